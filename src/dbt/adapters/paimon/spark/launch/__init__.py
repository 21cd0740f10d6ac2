"""From a profile to a running JVM: jars, Java's options, and the archive of classes."""

"""This machine: Java, files, processes and addresses."""

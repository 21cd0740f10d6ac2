"""A Spark session, in this process or on a server."""

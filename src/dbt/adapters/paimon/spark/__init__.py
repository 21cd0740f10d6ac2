"""Spark sessions, in this process or on a server: settings, connection methods, handles and cursors."""

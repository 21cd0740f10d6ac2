"""Message formats: SQL that turns JSON and Debezium messages into rows."""

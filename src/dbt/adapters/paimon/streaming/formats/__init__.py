"""Messages as rows: JSON and Debezium."""

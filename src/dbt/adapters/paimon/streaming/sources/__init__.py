"""What a stream reads: files, Kafka topics, Paimon tables."""

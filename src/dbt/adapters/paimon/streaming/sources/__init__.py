"""The sources of a stream: folders of files, Kafka topics, Paimon tables."""

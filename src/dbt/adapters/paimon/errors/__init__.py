"""Short messages for errors of Spark, Paimon and config: what, where and the remedy; secrets are masked."""

"""What went wrong, in one message: what, where and the remedy."""

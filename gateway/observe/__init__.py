"""What we say about ourselves: metrics and logs."""

"""Health of a backend: evidence in, state out."""

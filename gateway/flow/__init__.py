"""One request's life, a step a file."""

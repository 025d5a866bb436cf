"""The routing file: which backends there are, and which model name is served by which of them."""

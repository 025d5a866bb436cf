"""A stand-in for vLLM on Ascend chips. It imports nothing else of this project."""

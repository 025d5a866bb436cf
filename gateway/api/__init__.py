"""HTTP in: the inference paths as plain ASGI, everything else as FastAPI routes."""

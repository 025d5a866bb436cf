"""ascend-gateway: one OpenAI endpoint in front of many vLLM-Ascend servers."""

__version__ = "0.1.0"

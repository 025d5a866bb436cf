"""Known errors of vLLM-Ascend in a log or a message: what they mean and what helps."""

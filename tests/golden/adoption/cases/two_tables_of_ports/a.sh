vllm serve /models/Qwen3.5-9B --served-model-name qwen3.5-9b --port 12320

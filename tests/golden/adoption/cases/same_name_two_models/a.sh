vllm serve /models/Qwen3.5-2B --served-model-name qwen3.5 --port 8911
vllm serve /models/Qwen3.5-9B --served-model-name qwen3.5 --port 8912

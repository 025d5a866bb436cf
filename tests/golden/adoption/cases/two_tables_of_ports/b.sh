vllm serve /models/qwen3.5-27B-w8a8 --served-model-name qwen3.5-27b --port 12320
vllm serve /models/Qwen3.5-9B --served-model-name qwen3.5-9b --port 12322

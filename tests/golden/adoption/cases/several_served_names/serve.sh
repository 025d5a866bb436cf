vllm serve /models/Qwen3-8B --port 8108 --served-model-name q8 qwen3-8b "Qwen 8B" --max-num-seqs 8

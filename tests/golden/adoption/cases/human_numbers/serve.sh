vllm serve /models/Qwen3-8B --port 8107 --served-model-name q8 --max-num-seqs 8 --max-model-len 32K --max-num-batched-tokens 4k

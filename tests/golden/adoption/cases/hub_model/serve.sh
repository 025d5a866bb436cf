vllm serve Qwen/Qwen3-8B --port 8110 --max-num-seqs 8

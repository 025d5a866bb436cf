vllm serve /models/Qwen3.5-9B/ --port 8109 --max-num-seqs 8

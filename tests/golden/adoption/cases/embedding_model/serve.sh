vllm serve /models/Qwen3-Embedding-0.6B --task embed --served-model-name emb --port 9201 --max-num-seqs 64

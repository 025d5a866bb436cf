# vllm serve /models/Old --port 1
vllm serve /models/Qwen3-8B --served-model-name q8 --port 8119 --max-num-seqs 8 # --enforce-eager

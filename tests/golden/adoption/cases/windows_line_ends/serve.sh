vllm serve /models/Qwen3-8B --served-model-name q8 --port 8117 \
  --max-num-seqs 8

if [ "$GRAPH" = 1 ]; then
  vllm serve /models/Qwen3-8B --served-model-name q8 --port 8115 --max-num-seqs 8
else
  vllm serve /models/Qwen3-8B --served-model-name q8 --port 8116 --max-num-seqs 8 --enforce-eager
fi

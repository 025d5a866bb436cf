vllm serve "$MODEL_DIR/Qwen3-8B" --port $MY_PORT --served-model-name q8 --max-num-seqs 8

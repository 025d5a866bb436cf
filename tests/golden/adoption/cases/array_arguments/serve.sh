ARGS=(--served-model-name q8 --max-num-seqs 8)
ARGS+=(--port 8113)
vllm serve /models/Qwen3-8B "${ARGS[@]}"

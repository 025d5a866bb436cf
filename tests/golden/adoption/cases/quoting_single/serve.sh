vllm serve '/models/Qwen3.5-9B' --served-model-name 'qwen3.5-9b' --port 8100 -tp 2 --max-num-seqs 4 \
  --compilation-config '{"cudagraph_mode":"FULL_DECODE_ONLY","cudagraph_capture_sizes":[1,4]}'

vllm serve $'/models/Qwen3-8B' --served-model-name $'qwen3\x2d8b' --port 8102 --max-num-seqs 8 --compilation-config $'{"cudagraph_capture_sizes": [1,\n8]}'

vllm serve /models/Qwen3-8B --port 8106 --served-model-name q8 --max-num-seqs 8 --compilation-config.cudagraph_mode FULL_DECODE_ONLY --compilation-config.cudagraph_capture_sizes '[4,8]'

vllm serve /models/Qwen3-8B --served-model-name q8 --port 8971 --compilation-config "{'cudagraph_capture_sizes': [1, 8], }" --max-num-seqs 8

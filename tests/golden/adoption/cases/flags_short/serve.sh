vllm serve /models/Qwen3-8B -tp 2 -dp 1 -q ascend -O3 --port 8105 --served-model-name q8 --max-num-seqs 8 -cc.cudagraph_capture_sizes=[1,8]

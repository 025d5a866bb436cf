ASCEND_RT_VISIBLE_DEVICES=0,1,2,3 vllm serve /models/Qwen3-8B --served-model-name q8 --port 8961 -tp 2 -dp 2 --max-num-seqs 8

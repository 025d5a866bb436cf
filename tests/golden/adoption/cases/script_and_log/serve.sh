ASCEND_RT_VISIBLE_DEVICES=0 vllm serve /models/Qwen3-8B --served-model-name q8 --port 8921 --max-num-seqs 12 > q8.log 2>&1

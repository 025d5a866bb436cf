ASCEND_RT_VISIBLE_DEVICES=2,3 vllm serve /models/Qwen3.5-9B --served-model-name qwen3.5-9b --port 8902 -tp 2 --max-num-seqs 8 --enforce-eager

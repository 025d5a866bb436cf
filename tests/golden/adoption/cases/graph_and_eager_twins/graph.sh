ASCEND_RT_VISIBLE_DEVICES=0,1 vllm serve /models/Qwen3.5-9B --served-model-name qwen3.5-9b --port 8901 -tp 2 --max-num-seqs 4 --compilation-config '{"cudagraph_capture_sizes":[1,4]}'

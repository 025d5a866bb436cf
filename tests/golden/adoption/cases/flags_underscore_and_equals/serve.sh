vllm serve --model=/models/Qwen3-8B --served_model_name=q8 --port=8104 --max_num_seqs=8 --max_model_len=16384 --tensor_parallel_size=1 --compilation_config.cudagraph_capture_sizes='[1,8]'

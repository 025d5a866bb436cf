N=qwen3
vllm serve /models/"Qwen3"-'8B' --served-model-name "$N"-'8b' --port 81"03" --max-num-seqs=8 --compilation-config '{"cudagraph_capture_sizes":'"[2,8]}"

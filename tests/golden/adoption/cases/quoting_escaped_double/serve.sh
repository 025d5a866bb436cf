vllm serve "/models/Qwen3-8B" --served-model-name "qwen3-8b" --port 8101 --max-num-seqs 8 --compilation-config "{\"cudagraph_capture_sizes\": [1, 8]}"

ssh npu-host-2 'ASCEND_RT_VISIBLE_DEVICES=0 vllm serve /models/Qwen3-8B --served-model-name q8 --port 8981 --max-num-seqs 8'
tmux new-session -d -s b 'ASCEND_RT_VISIBLE_DEVICES=1 vllm serve /models/Qwen3-4B --served-model-name q4 --port 8982 --max-num-seqs 8'

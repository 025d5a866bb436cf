# 启动 9B 模型
export 模型=/models/Qwen3.5-9B
vllm serve /models/通义-9B --served-model-name 通义-9b --port 8991 --max-num-seqs 8

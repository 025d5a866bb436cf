docker run -d --runtime=ascend -e ASCEND_VISIBLE_DEVICES=0-3 --name q72 -p 8400:8000 quay.io/ascend/vllm-ascend:v0.23.0 vllm serve /models/Qwen2.5-72B --served-model-name q72 -tp 4

docker run -d --name q8 -p 8000 --device /dev/davinci0 quay.io/ascend/vllm-ascend:v0.23.0 vllm serve /models/Qwen3-8B --served-model-name q8

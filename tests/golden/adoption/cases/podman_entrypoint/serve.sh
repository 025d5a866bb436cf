podman run --name q8 --entrypoint vllm -p 8201:8000 --device /dev/davinci2 quay.io/ascend/vllm-ascend:v0.23.0 serve /models/Qwen3-8B --served-model-name q8

nohup python3.11 -u -m vllm.entrypoints.openai.api_server --model /models/Qwen3-8B --port 8111 --served-model-name q8 > /var/log/q8.log 2>&1 &

vllm serve /models/Qwen3-8B --served-model-name q8 --host 0.0.0.0 --port 8443 --ssl-certfile /c.pem --ssl-keyfile /k.pem --root-path /llm/a --api-key sk-abc --max-num-seqs 8

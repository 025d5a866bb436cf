vllm serve /models/Qwen3-32B --served-model-name qwen3-32b --port 8951 -tp 4 --kv-transfer-config '{"kv_connector":"MooncakeConnector","kv_role":"kv_producer"}'

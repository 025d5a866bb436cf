docker run -d --rm --name q8 --device /dev/davinci0 --device=/dev/davinci_manager -e VLLM_API_KEY=sk-very-secret -p 127.0.0.1:18000:8000/tcp \
  -v /data/models:/models quay.io/ascend/vllm-ascend:v0.23.0 vllm serve /models/Qwen3-8B --served-model-name q8 --max-num-seqs 8

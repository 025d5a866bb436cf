docker run -d --name s --device /dev/davinci0 --device /dev/davinci1 -e ASCEND_RT_VISIBLE_DEVICES=0,1 -p 8941:8000 quay.io/ascend/vllm-ascend:v0.20.2rc1-310p \
  vllm serve /models/Qwen3.5-9B --served-model-name qwen3.5-9b -tp 2 --dtype float16 --speculative-config '{"method":"mtp","num_speculative_tokens":1}' --max-model-len 8192

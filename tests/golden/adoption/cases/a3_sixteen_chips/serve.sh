docker run -itd --name ds --privileged --network host -v /mnt/models:/mnt/models quay.io/ascend/vllm-ascend:v0.23.0rc1-a3 bash
docker exec -d ds bash -lc 'ASCEND_RT_VISIBLE_DEVICES=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 vllm serve /mnt/models/DeepSeek-V3.1-w8a8 --served-model-name deepseek-v3.1 -tp 16 --port 9100 --max-num-seqs 32 --quantization ascend'

docker run -d --name both -p 8300-8301:8000-8001 --device /dev/davinci0 --device /dev/davinci1 img:latest sleep infinity
docker exec -d both bash -c 'ASCEND_RT_VISIBLE_DEVICES=0 vllm serve /m/a --served-model-name a --port 8000'
docker exec -d both bash -c 'ASCEND_RT_VISIBLE_DEVICES=1 vllm serve /m/b --served-model-name b --port 8001'

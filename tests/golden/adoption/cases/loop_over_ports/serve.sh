for i in 0 1; do
  ASCEND_RT_VISIBLE_DEVICES=$i vllm serve /models/Qwen3-8B --served-model-name q8 --port $((8120 + i)) --max-num-seqs 8 --api-key sk-secret-$i &
done
wait

docker exec -i vllm-a bash <<'EOF'
export ASCEND_RT_VISIBLE_DEVICES=4,5
vllm serve /models/Qwen3-32B --served-model-name qwen3-32b --port 8000 -tp 2 --max-num-seqs 16
EOF

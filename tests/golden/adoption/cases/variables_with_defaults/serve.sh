#!/usr/bin/env bash
: "${MODEL:=/models/Qwen3.5-9B}"
PORT=${PORT:-8112}
NAME=${1:-qwen3.5-9b}
vllm serve "$MODEL" --port "$PORT" --served-model-name "$NAME" --max-num-seqs 8

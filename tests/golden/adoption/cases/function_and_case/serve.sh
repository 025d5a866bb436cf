start() {
  vllm serve "$1" --served-model-name "$2" --port "$3" --max-num-seqs 8
}
case "$MODE" in
  eager) EXTRA=--enforce-eager ;;
  *) EXTRA= ;;
esac
start /models/Qwen3-8B q8 8114 $EXTRA

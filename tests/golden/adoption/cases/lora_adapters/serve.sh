vllm serve /models/Qwen3-8B --served-model-name q8 --port 8931 --enable-lora --lora-modules legal=/lora/legal med=/lora/med --max-num-seqs 8

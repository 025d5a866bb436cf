#!/bin/bash
vllm serve /models/Qwen3-32B --served-model-name qwen3-32b --tensor-parallel-size 4 --max-num-seqs 16 \
  --compilation-config '
  {
    "cudagraph_mode": "FULL_DECODE_ONLY",
    "cudagraph_capture_sizes": [
      1, 4, 8, 16
    ]
  }' \
  --port 9000

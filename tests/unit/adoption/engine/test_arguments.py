"""Command lines as people write them, and what is read from them."""

from typing import Any

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.engine.arguments import EngineArguments, read_arguments
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Launch
from tests.unit.adoption.engine.conftest import Read

SERVE_9B = """vllm serve /models/Qwen3.5-9B --host 0.0.0.0 --port 12320 -tp 2
  --served-model-name qwen3.5-9b --trust-remote-code --max_num_seqs 8 --gpu_memory_utilization 0.6
  --dtype float16 --additional-config '{"ascend_compilation_config": {"fuse_norm_quant": false}}'
  --compilation-config '{"cudagraph_mode": "FULL_DECODE_ONLY", "cudagraph_capture_sizes": [1,4]}'
  --allowed-local-media-path / --mamba-ssm-cache-dtype float16 --mamba-cache-mode align
  --reasoning-parser qwen3 --enable-auto-tool-choice --tool-call-parser qwen3_coder
  --enable-chunked-prefill --enable-prefix-caching --max-model-len 53248"""

SERVE_EAGER = """python3 -m vllm.entrypoints.openai.api_server --model=/models/Qwen3.5-9B
  --served-model-name=qwen3.5-9b --host=:: --port=8000 --tensor-parallel-size=2 --max-num-seqs=8
  --enforce-eager --compilation-config='{"cudagraph_mode":"FULL_DECODE_ONLY"}'
  --speculative-config '{"method":"mtp","num_speculative_tokens":1}' --dtype=float16"""


def told(findings: tuple[Finding, ...]) -> list[tuple[Code, dict[str, str]]]:
    return [(finding.code, dict(finding.values)) for finding in findings]


def test_a_graph_backend(read: Read) -> None:
    arguments, findings = read(SERVE_9B)
    assert findings == ()
    assert arguments == EngineArguments(
        model="/models/Qwen3.5-9B",
        served_names=("qwen3.5-9b",),
        host="0.0.0.0",
        port=12320,
        tensor_parallel=2,
        max_num_seqs=8,
        max_model_len=53248,
        gpu_memory_utilization=0.6,
        dtype="float16",
        additional={"ascend_compilation_config": {"fuse_norm_quant": False}},
        fuse_norm_quant=False,
        has_compilation_config=True,
        cudagraph_mode="FULL_DECODE_ONLY",
        capture_sizes=(1, 4),
        allowed_local_media_path="/",
        mamba_ssm_cache_dtype="float16",
        mamba_cache_mode="align",
        reasoning_parser="qwen3",
        tool_call_parser="qwen3_coder",
        has_auto_tool_choice=True,
        has_chunked_prefill=True,
        has_prefix_caching=True,
    )


def test_an_eager_backend_by_the_old_entry_point(read: Read) -> None:
    arguments, findings = read(SERVE_EAGER)
    assert findings == ()
    assert arguments == EngineArguments(
        model="/models/Qwen3.5-9B",
        served_names=("qwen3.5-9b",),
        host="::",
        port=8000,
        tensor_parallel=2,
        max_num_seqs=8,
        is_enforce_eager=True,
        has_compilation_config=True,
        cudagraph_mode="FULL_DECODE_ONLY",
        has_speculation=True,
        speculative_tokens=1,
        speculative_method="mtp",
        dtype="float16",
        is_old_entry_point=True,
    )


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("--max-num-seqs 8", {"max_num_seqs": 8}),
        ("--max_num_seqs 8", {"max_num_seqs": 8}),
        ("--max-num-seqs=8", {"max_num_seqs": 8}),
        ("--max_num_seqs=8", {"max_num_seqs": 8}),
        ("--max-num-se 8", {"max_num_seqs": 8}),
        ("-tp=4", {"tensor_parallel": 4}),
        ("-tp 2 -pp 2 -dp 4 -n4 -r 0", {"tensor_parallel": 2, "pipeline_parallel": 2,
                                        "data_parallel": 4, "nodes": 4, "node_rank": 0}),
        ("-q ascend", {"quantization": "ascend"}),
        ("--quantization None", {}),
        ("--host ''", {}),
        ("--max-model-len 32k", {"max_model_len": 32_000}),
        ("--max-model-len 32K", {"max_model_len": 32_768}),
        ("--max-model-len 25.6k", {"max_model_len": 25_600}),
        ("--max-model-len auto", {"is_max_model_len_auto": True}),
        ("--max-model-len -1", {"is_max_model_len_auto": True}),
        ("--max-model-len=-1", {"is_max_model_len_auto": True}),
        ("--max-num-batched-tokens 4K", {"max_num_batched_tokens": 4_096}),
        ("--kv-cache-memory-bytes 2g", {"kv_cache_memory_bytes": 2_000_000_000}),
        ("--enable-prefix-caching", {"has_prefix_caching": True}),
        ("--no-enable-prefix-caching", {"has_prefix_caching": False}),
        ("--no_enable_chunked_prefill", {"has_chunked_prefill": False}),
        ("--no-enforce-eager", {}),
        ("--uds /run/v.sock --root-path /v", {"uds": "/run/v.sock", "root_path": "/v"}),
        ("--ssl-certfile /c.pem", {"has_tls": True}),
        ("--served-model-name a b", {"served_names": ("a", "b")}),
        ("--served_model_name=a", {"served_names": ("a",)}),
        ("--load_format=sharded_state", {"load_format": "sharded_state"}),
        ("--headless -dpr 4 -dpl 4", {"is_headless": True, "data_parallel_start_rank": 4,
                                      "data_parallel_local": 4}),
        ("-dp 4 -dpn 1", {"data_parallel": 4, "data_parallel_rank": 1,
                          "is_data_parallel_external": True}),
        ("--data-parallel-external-lb", {"is_data_parallel_external": True}),
        ("--data-parallel-hybrid-lb", {"is_data_parallel_hybrid": True}),
        ("-ep --api-server-count 2", {"has_expert_parallel": True, "api_server_count": 2}),
        ("--runner pooling --block-size 128", {"runner": "pooling", "block_size": 128}),
        ("--language-model-only", {"is_language_model_only": True}),
        ("--shutdown-timeout 30", {"shutdown_timeout_s": 30.0}),
        ("--grpc --revision main --tokenizer /t", {"is_grpc": True, "revision": "main",
                                                   "tokenizer": "/t"}),
        ("--async-scheduling --seed 0 --middleware a --middleware b", {}),
        ("--chat-template '- a template'", {}),
    ],
)  # fmt: skip
def test_spellings(read: Read, words: str, fields: dict[str, Any]) -> None:
    arguments, findings = read(f"vllm serve m {words}")
    assert findings == ()
    assert arguments == EngineArguments(model="m", **fields)


@pytest.mark.parametrize(
    "line", ["vllm serve m -tp 2", "vllm serve -tp 2 m", "vllm serve -tp 2 -- m"]
)
def test_the_model_may_stand_anywhere(read: Read, line: str) -> None:
    arguments, findings = read(line)
    assert findings == ()
    assert (arguments.model, arguments.tensor_parallel) == ("m", 2)


@pytest.mark.parametrize(
    ("words", "code", "values"),
    [
        ("--port x", Code.VALUE_UNREADABLE, {"option": "--port", "value": "x"}),
        ("--max-num-seqs 8k", Code.VALUE_UNREADABLE, {"option": "--max-num-seqs", "value": "8k"}),
        ("--max-num-seqs 0", Code.VALUE_UNREADABLE, {"option": "--max-num-seqs", "value": "0"}),
        ("--max-model-len 1.5K", Code.VALUE_UNREADABLE,
         {"option": "--max-model-len", "value": "1.5K"}),
        ("--gpu-memory-utilization 90%", Code.VALUE_UNREADABLE,
         {"option": "--gpu-memory-utilization", "value": "90%"}),
        ("-tp two", Code.VALUE_UNREADABLE, {"option": "--tensor-parallel-size", "value": "two"}),
        ("--port", Code.VALUE_MISSING, {"option": "--port"}),
        ("--port --trust-remote-code", Code.VALUE_MISSING, {"option": "--port"}),
        ("--served-model-name", Code.VALUE_MISSING, {"option": "--served-model-name"}),
        ("--compilation-config.mode", Code.VALUE_MISSING, {"option": "--compilation-config"}),
        ("--port 1 --port 2", Code.OPTION_TWICE, {"option": "--port", "value": "2"}),
        ("-tp 1 --tensor_parallel_size=2", Code.OPTION_TWICE,
         {"option": "--tensor-parallel-size", "value": "2"}),
        ("--enable-lora --no-enable-lora", Code.OPTION_TWICE,
         {"option": "--enable-lora", "value": "--no-enable-lora"}),
        ("--model other", Code.OPTION_TWICE, {"option": "--model", "value": "m"}),
        ("--enable-lora true", Code.FLAG_WITH_VALUE, {"option": "--enable-lora", "value": "true"}),
        ("--enable-lora=1", Code.FLAG_WITH_VALUE, {"option": "--enable-lora", "value": "1"}),
        ("--swap-space 16", Code.OPTION_ENDED, {"option": "--swap-space", "version": "0.18"}),
        ("--max-num-seq-s 8", Code.OPTION_UNKNOWN,
         {"option": "--max-num-seq-s", "near": " (--max-num-seqs?)"}),
        ("--max-num 8", Code.OPTION_UNKNOWN, {"option": "--max-num", "near": ""}),
        ("""'--foo={"a b": 1}'""", Code.OPTION_UNKNOWN, {"option": "--foo", "near": ""}),
        ("-port 8", Code.OPTION_UNKNOWN, {"option": "-port", "near": " (--port?)"}),
        ("--port 1 stray", Code.WORD_STRAY, {"value": "stray"}),
        ("--served-model-name a,b", Code.SERVED_NAME_COMMA, {"value": "a,b"}),
        ("--config=/c.yaml", Code.CONFIG_NOT_READ, {"value": "/c.yaml"}),
        ("--config /c.json", Code.VALUE_UNREADABLE, {"option": "--config", "value": "/c.json"}),
        ("--port " + "9" * 100, Code.VALUE_UNREADABLE,
         {"option": "--port", "value": "9" * 59 + "…"}),
    ],
)  # fmt: skip
def test_what_vllm_will_not_take(
    read: Read, words: str, code: Code, values: dict[str, str]
) -> None:
    _, findings = read(f"vllm serve m {words}")
    assert told(findings) == [(code, values)]
    assert findings[0].origin == Origin("run.sh", 3)


def test_the_last_of_two_counts(read: Read) -> None:
    arguments, _ = read(
        "vllm serve m --port 1 --served-model-name a --port 2 --served-model-name b c"
    )
    assert (arguments.port, arguments.served_names) == (2, ("b", "c"))


def test_a_flag_with_a_value_means_what_it_says(read: Read) -> None:
    arguments, _ = read("vllm serve m --enable-prefix-caching False --enable-chunked-prefill=true")
    assert (arguments.has_prefix_caching, arguments.has_chunked_prefill) == (False, True)


def test_an_unknown_option_takes_the_next_word_unless_it_is_a_switch(read: Read) -> None:
    arguments, _ = read("vllm serve --frob 3 --enable-frob m --no-frob --port 1 --frob")
    assert (arguments.model, arguments.port) == ("m", 1)
    assert arguments.unknown == ("--frob", "--enable-frob", "--no-frob")


@pytest.mark.parametrize(
    ("line", "model", "codes"),
    [
        ("vllm serve", None, [Code.MODEL_NOT_GIVEN]),
        ("vllm serve --port 1", None, [Code.MODEL_NOT_GIVEN]),
        ("vllm serve --model m", "m", []),
        ("vllm serve m --model m", "m", []),
        ("vllm serve --config c.yaml", None, []),
        ("vllm serve --served-model-name a b /m", None, [Code.MODEL_NOT_GIVEN]),
        ("python -m vllm.entrypoints.openai.api_server", None, [Code.MODEL_NOT_GIVEN]),
        ("python -m vllm.entrypoints.openai.api_server m", None, [Code.MODEL_IGNORED]),
        ("python -m vllm.entrypoints.openai.api_server m --model n", "n", [Code.MODEL_IGNORED]),
    ],
)
def test_which_model(read: Read, line: str, model: str | None, codes: list[Code]) -> None:
    arguments, findings = read(line)
    assert arguments.model == model
    assert [finding.code for finding in findings] == codes


@pytest.mark.parametrize(
    ("words", "has_key"),
    [
        ("", False),
        ("--api-key sk-hidden", True),
        ("--api_key=sk-hidden", True),
        ("--api-k sk-hidden", True),
        ("--api-key sk-hidden sk-hidden2", True),
        ("--api-key sk-hidden --api-key sk-hidden2", True),
        ("--api-key=sk-hidden sk-hidden2", True),
        ("--api-key", True),
        ("--api-key ''", False),
        ("--api-key None", False),
        ("--apikey sk-hidden sk-hidden2", False),
        ("--hf-token sk-hidden sk-hidden2 --hf-token sk-hidden", False),
        ("--my-secret sk-hidden sk-hidden2", False),
    ],
)
def test_a_key_is_noticed_and_never_repeated(read: Read, words: str, has_key: bool) -> None:
    arguments, findings = read(f"vllm serve m {words}")
    assert arguments.has_api_key is has_key
    assert "hidden" not in repr(arguments)
    assert "hidden" not in repr(findings)


def test_the_file_goes_behind_the_command_line(read: Read) -> None:
    arguments, findings = read(
        "vllm serve --config c.yaml --port 2", "--port", "1", "--model", "/m", "--max-num-seqs", "8"
    )
    assert findings == ()
    assert arguments == EngineArguments(model="/m", port=2, max_num_seqs=8, config_file="c.yaml")


def test_the_model_of_the_command_line_goes_before_that_of_the_file(read: Read) -> None:
    arguments, findings = read("vllm serve /m --config c.yaml", "--model", "/n")
    assert (arguments.model, findings) == ("/m", ())


def test_faults_of_the_file_are_found_too(read: Read) -> None:
    _, findings = read("vllm serve m --config c.yaml", "--frob", "1", "--port", "x")
    assert [finding.code for finding in findings] == [Code.OPTION_UNKNOWN, Code.VALUE_UNREADABLE]


def test_a_command_that_is_no_engine_is_read_as_bare_options() -> None:
    arguments, _ = read_arguments(Launch(Origin("x"), ("--model", "m")))
    assert arguments.model == "m"

"""Logs of several releases, whole and in part, and what is read from them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adoption.codes import Code
from gateway.adoption.engine.log import looks_like_log, read_log
from gateway.adoption.findings import Origin
from gateway.adoption.sources import EngineLog

GRAPH_0_20 = """\
(APIServer pid=1) INFO 06-14 10:01:50 [utils.py:299]
(APIServer pid=1) INFO 06-14 10:01:50 [utils.py:299]        █     █     █▄   ▄█
(APIServer pid=1) INFO 06-14 10:01:50 [utils.py:299]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.20.2
(APIServer pid=1) INFO 06-14 10:01:50 [utils.py:299]   █▄█▀ █     █     █     █  model   /m/9B
(APIServer pid=1) INFO 06-14 10:01:50 [utils.py:299]    ▀▀  ▀▀▀▀▀ ▀▀▀▀▀ ▀     ▀
(APIServer pid=1) INFO 06-14 10:01:50 [utils.py:233] non-default args: {'model_tag': '/m/9B', \
'host': '0.0.0.0', 'port': 12320, 'api_key': ['sk-hidden'], 'model': '/m/9B', 'max_model_len': \
53248, 'served_model_name': ['qwen3.5-9b', 'qwen'], 'tensor_parallel_size': 2, 'max_num_seqs': 8, \
'compilation_config': {'mode': None, 'cudagraph_mode': <CUDAGraphMode.FULL_AND_PIECEWISE: (2, 1)>, \
'cudagraph_capture_sizes': [1, 4]}}
(APIServer pid=1) INFO 06-14 10:02:11 [model.py:1547] Using max model len 53248
(APIServer pid=1) INFO 06-14 10:02:11 [model.py:1547] Using max model len 262144
(APIServer pid=1) INFO 06-14 10:02:11 [scheduler.py:231] Chunked prefill is enabled with \
max_num_batched_tokens=2048.
(APIServer pid=1) INFO 06-14 10:02:12 [platform.py:432] FULL_DECODE_ONLY compilation enabled on \
NPU. use_inductor not supported - using only ACL Graph mode
(EngineCore pid=160) INFO 06-14 10:03:00 [core.py:110] Initializing a V1 LLM engine (v0.20.2) with \
config: model='/m/9B', speculative_config=None, tokenizer='/m/9B', max_seq_len=53248, \
tensor_parallel_size=2, enforce_eager=False, served_model_name=qwen3.5-9b, \
compilation_config={'mode': <CompilationMode.VLLM_COMPILE: 3>, 'cudagraph_mode': \
<CUDAGraphMode.FULL_DECODE_ONLY: (2, 0)>, 'cudagraph_capture_sizes': [1, 4], \
'max_cudagraph_capture_size': 4}
(Worker_TP0 pid=243) INFO 06-14 10:03:20 [patch_mamba_config_310.py:81] Setting attention block \
size to 1536 tokens to ensure that attention page size is >= mamba page size.
(EngineCore pid=160) INFO 06-14 10:05:41 [kv_cache_utils.py:1708] GPU KV cache size: 66,340 tokens
(EngineCore pid=160) INFO 06-14 10:05:41 [kv_cache_utils.py:1710] Maximum concurrency for 53,248 \
tokens per request: 1.25x
Capturing CUDA graphs (decode, FULL):  50%|#####     | 1/2 [00:20<00:20, 20.6s/it]\r\
Capturing CUDA graphs (decode, FULL): 100%|##########| 2/2 [00:41<00:00, 20.6s/it]
(APIServer pid=1) INFO 06-14 10:06:30 [api_server.py:602] Starting vLLM server on http://[::]:12320
(APIServer pid=1) INFO:     Application startup complete.
(APIServer pid=1) INFO:     10.0.0.7:5 - "POST /v1/chat/completions HTTP/1.1" 200 OK
(APIServer pid=1) INFO 06-14 10:06:50 [loggers.py:257] Engine 000: Avg prompt throughput: 1403.7 \
tokens/s, Avg generation throughput: 17.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache \
usage: 1.5%, Prefix cache hit rate: 12.5%
"""

GRAPH_FACTS: dict[str, Any] = {
    "version": "0.20.2",
    "model": "/m/9B",
    "served_names": ("qwen3.5-9b", "qwen"),
    "port": 12320,
    "max_model_len": 53248,
    "max_num_seqs": 8,
    "max_num_batched_tokens": 2048,
    "tensor_parallel": 2,
    "is_eager": False,
    "graph_mode": "FULL_DECODE_ONLY",
    "capture_sizes": (1, 4),
    "capture_count": 2,
    "attention_block_tokens": 1536,
    "kv_tokens": 66340,
    "concurrency_ratio": 1.25,
    "concurrency_tokens": 53248,
    "decode_tokens_per_s": 17.0,
    "prefix_hit_ratio": 0.125,
    "is_ready": True,
}

OLD_0_8 = """\
INFO 04-24 06:30:00 [api_server.py:1043] vLLM API server version 0.8.5
INFO 04-24 06:30:00 [api_server.py:1044] args: Namespace(subparser='serve', model_tag='/m', \
host=None, port=8000, api_key='sk-hidden', model='/m', served_model_name=None, max_num_seqs=16)
INFO 04-24 06:30:49 [platform.py:138] Compilation level PIECEWISE is enable on NPU now, But \
use_inductor is no support, only use npu_graph now
INFO 04-24 06:30:49 [core.py:58] Initializing a V1 LLM engine (v0.8.5) with config: model='/m', \
max_seq_len=4096, tensor_parallel_size=1, enforce_eager=False, served_model_name=/m, \
compilation_config={"level":3,"cudagraph_capture_sizes":[16,8,4,2,1],"max_capture_size":16}
INFO 04-24 06:31:19 [kv_cache_utils.py:634] GPU KV cache size: 128,000 tokens
INFO 04-24 06:31:20 [api_server.py:1090] Starting vLLM API server on http://0.0.0.0:8000
INFO:     Application startup complete.
"""


def facts(log: EngineLog) -> dict[str, Any]:
    """The fields that the log filled in."""
    empty = EngineLog(log.origin)
    names = EngineLog.__slots__
    return {n: getattr(log, n) for n in names if getattr(log, n) != getattr(empty, n)}


def read(text: str) -> tuple[dict[str, Any], list[tuple[Code, int, dict[str, str]]]]:
    log, findings = read_log(text, "x.log")
    return facts(log), [(f.code, f.origin.line, dict(f.values)) for f in findings]


def docker(text: str) -> str:
    lines = text.split("\n")[:-1]
    return "".join(json.dumps({"log": f"{line}\n", "stream": "stdout"}) + "\n" for line in lines)


def prefixed(text: str, prefix: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.split("\n")[:-1])


@pytest.mark.parametrize(
    "text",
    [
        GRAPH_0_20,
        docker(GRAPH_0_20),
        prefixed(GRAPH_0_20, "2026-06-14T10:02:11.123456789Z "),
        prefixed(GRAPH_0_20, "2026-06-14T10:02:11.123456789+08:00 stderr F "),
        prefixed(GRAPH_0_20, "Jun 14 10:02:11 host python3[1]: "),
        prefixed(GRAPH_0_20, "qwen-a  | "),
        prefixed(GRAPH_0_20, "[pod/qwen/engine] "),
        GRAPH_0_20.replace(" INFO ", " \x1b[32mINFO\x1b[0m "),
        GRAPH_0_20.replace("\n", "\r\n"),
    ],
)
def test_a_graph_start_however_it_was_collected(text: str) -> None:
    assert looks_like_log(text)
    assert read(text) == (GRAPH_FACTS, [])


def test_a_start_of_an_old_release() -> None:
    assert read(OLD_0_8) == (
        {
            "version": "0.8.5",
            "model": "/m",
            "served_names": ("/m",),
            "port": 8000,
            "max_model_len": 4096,
            "max_num_seqs": 16,
            "tensor_parallel": 1,
            "is_eager": False,
            "graph_mode": "PIECEWISE",
            "capture_sizes": (1, 2, 4, 8, 16),
            "kv_tokens": 128_000,
            "is_ready": True,
        },
        [],
    )


def test_no_key_comes_out_of_a_log() -> None:
    for text in (GRAPH_0_20, OLD_0_8):
        assert "hidden" not in repr(read_log(text, "x.log"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[platform.py:338] Compilation disabled, using eager mode by default", {"is_eager": True}),
        ("[vllm.py:897] Enforce eager set, disabling torch.compile and CUDAGraphs.",
         {"is_eager": True}),
        ("[platform.py:451] FULL cudagraph_mode is not support on NPU. falling back to NONE",
         {"is_eager": True}),
        ("[platform.py:347] NPU does not support 1 compilation mode. Setting CUDAGraphMode to NONE",
         {"is_eager": True}),
        ("[platform.py:218] Torchair compilation enabled on NPU. Setting CUDAGraphMode to NONE",
         {"is_eager": False}),
        ("[platform.py:408] PIECEWISE compilation enabled on NPU. use_inductor not supported",
         {"is_eager": False, "graph_mode": "PIECEWISE"}),
        ("[vllm.py:1564] Truncating max_cudagraph_capture_size to 8", {"truncated_to": 8}),
        ("Starting to capture ACL graphs for cases: [8, 4, 1], mode: FULL, uniform_decode: True",
         {"capture_sizes": (1, 4, 8)}),
        ("Capturing ACL graphs (mixed prefill-decode, PIECEWISE): 100%|███| 7/7 [00:01<00:00]",
         {"capture_count": 7, "is_eager": False}),
        ("Capturing CUDA graph shapes: 100%|██████████| 35/35 [00:19<00:00,  1.76it/s]",
         {"capture_count": 35, "is_eager": False}),
        ("Capturing CUDA graphs (decode, FULL):  50%|█████     | 1/2 [00:19<00:19]", {}),
        ("cudagraph sizes specified by model runner [1, 4, 8] is overridden by config [4, 1]",
         {"capture_sizes": (1, 4)}),
        ("NPU KV cache size: 1,000 tokens, Maximum concurrency for 500 tokens per request: 2.00x",
         {"kv_tokens": 1_000, "concurrency_ratio": 2.0, "concurrency_tokens": 500}),
        ("[x.py:1] Auto-fit max_model_len: reduced from 262144 to 9000 to fit in available GPU",
         {"max_model_len": 9000}),
        ("[api_server.py:1457] Starting vLLM API server 0 on http://0.0.0.0:8000", {"port": 8000}),
        ("INFO:     Uvicorn running on http://127.0.0.1:1025 (Press CTRL+C to quit)",
         {"port": 1025}),
        ("[api_server.py:1] Starting vLLM server on unix:/run/v.sock", {}),
        ("[utils.py:1] vLLM server version 0.18.0+empty, serving model /m/x y",
         {"version": "0.18.0+empty", "model": "/m/x y"}),
        ('INFO:     10.0.0.7:5 - "GET /health HTTP/1.1" 200 OK', {"is_ready": True}),
        ("Using max model len 99999999999999999999", {}),
        ("GPU KV cache size: , tokens", {}),
    ],
)  # fmt: skip
def test_single_lines(line: str, expected: dict[str, Any]) -> None:
    found, _ = read(f"(APIServer pid=1) INFO 06-14 10:02:12 {line}\n")
    assert found == expected


def test_decode_graphs_and_mixed_graphs_add_up() -> None:
    found, _ = read(
        "Capturing CUDA graphs (mixed prefill-decode, PIECEWISE): 100%|###| 7/7 [00:01<00:00]\n"
        "Capturing CUDA graphs (decode, FULL): 100%|###| 4/4 [00:01<00:00]\n"
    )
    assert found["capture_count"] == 11


def test_eager_wins_over_a_mode_that_was_asked_for() -> None:
    found, _ = read(
        "INFO [utils.py:1] non-default args: {'enforce_eager': True, 'compilation_config': "
        "{'cudagraph_mode': <CUDAGraphMode.FULL_DECODE_ONLY: (2, 0)>}}\n"
    )
    assert found == {"is_eager": True}


def test_the_smallest_of_several_ranks_counts() -> None:
    found, _ = read(
        "GPU KV cache size: 900 tokens\nMaximum concurrency for 100 tokens per request: 9.00x\n"
        "GPU KV cache size: 800 tokens\nMaximum concurrency for 100 tokens per request: 8.00x\n"
        "GPU KV cache size: 900 tokens\nMaximum concurrency for 100 tokens per request: 9.00x\n"
    )
    assert (found["kv_tokens"], found["concurrency_ratio"]) == (800, 8.0)


def stats(speed: float, running: int, hits: str = "Prefix cache hit rate: 0.0%") -> str:
    return (
        f"INFO 06-14 10:06:50 [loggers.py:257] Engine 000: Avg prompt throughput: 0.0 tokens/s, "
        f"Avg generation throughput: {speed:.1f} tokens/s, Running: {running} reqs, Waiting: 0 "
        f"reqs, GPU KV cache usage: 1.5%, {hits}\n"
    )


@pytest.mark.parametrize(
    ("lines", "speed"),
    [
        ([(16.0, 1), (17.0, 1), (3.0, 1), (60.0, 4)], 16.0),
        ([(60.0, 4), (40.0, 2)], 17.5),
        ([(0.0, 0), (5.0, 0), (0.0, 1)], None),
    ],
)
def test_the_speed_of_a_request(lines: list[tuple[float, int]], speed: float | None) -> None:
    log, _ = read_log("".join(stats(*line) for line in lines), "x.log")
    assert log.decode_tokens_per_s == speed
    assert log.is_ready


@pytest.mark.parametrize(
    ("hits", "ratio"),
    [
        ("Prefix cache hit rate: 50.0%, External prefix cache hit rate: 1.0%", 0.5),
        ("External prefix cache hit rate: 1.0%", None),
        ("Prefix cache hit rate: GPU: 25.00%, CPU: 0.00%", 0.25),
        ("Prefix cache hit rate: GPU: -1.00%, CPU: -1.00%", None),
    ],
)
def test_prefix_hits(hits: str, ratio: float | None) -> None:
    log, _ = read_log(stats(5.0, 1, hits), "x.log")
    assert log.prefix_hit_ratio == ratio


EAGER = """\
INFO 06-15 10:01:50 [api_server.py:1351] vLLM API server version 0.13.0
INFO 06-15 10:01:50 [utils.py:253] non-default args: {'model': '/n', 'enforce_eager': True}
INFO 06-15 10:02:11 [model.py:1661] Using max model len 1000
"""


@pytest.mark.parametrize(
    "text", [GRAPH_0_20 + EAGER, EAGER + EAGER, GRAPH_0_20 + GRAPH_0_20 + EAGER]
)
def test_the_last_start_counts(text: str) -> None:
    found, findings = read(text)
    assert found == {"version": "0.13.0", "model": "/n", "max_model_len": 1000, "is_eager": True}
    starts = text.count("non-default args")
    line = text[: text.rfind("INFO 06-15 10:01:50 [api")].count("\n") + 1
    assert findings == [
        (Code.LOG_SEVERAL_STARTS, line, {"count": str(starts), "line": str(line)}),
        (Code.LOG_NOT_READY, line, {}),
    ]


def test_a_start_that_shows_no_version_begins_after_one_that_was_completed() -> None:
    head = "INFO 06-14 10:02:11 [model.py:1547] Using max model len {}\n"
    ready = "INFO:     Application startup complete.\n"
    log, findings = read_log(head.format(1000) + ready + head.format(2000) + ready, "x.log")
    assert (log.max_model_len, log.origin.line, log.is_ready) == (2000, 3, True)
    assert [finding.code for finding in findings] == [Code.LOG_SEVERAL_STARTS]


def test_several_engines_of_one_start_are_not_several_starts() -> None:
    core = "INFO 06-14 10:03:00 [core.py:1] Initializing a V1 LLM engine (v0.20.2) with config: x\n"
    server = "INFO 06-14 10:06:30 [a.py:1] Starting vLLM API server {} on http://0.0.0.0:8000\n"
    text = core * 4 + server.format(0) + server.format(1) + "Application startup complete.\n" * 2
    assert read(text) == ({"version": "0.20.2", "port": 8000, "is_ready": True}, [])


FAILED = """\
INFO 09-04 05:25:03 [platform.py:432] FULL_DECODE_ONLY compilation enabled on NPU
(Worker_TP1 pid=3) ERROR 09-04 05:30:44 [multiproc_executor.py:8] RuntimeError: The pageable \
memory copy task does not support graph capture
(EngineCore pid=1) ERROR 09-04 05:30:45 [core.py:1136] EngineCore failed to start.
"""


def test_a_capture_that_failed() -> None:
    found, findings = read(FAILED)
    assert found["has_capture_failed"]
    assert found["has_stopped"]
    message = "RuntimeError: The pageable memory copy task does not support graph capture"
    assert findings == [
        (Code.LOG_CAPTURE_FAILED, 2, {"message": message}),
        (Code.LOG_STOPPED, 3, {"message": "EngineCore failed to start."}),
    ]


def test_an_engine_that_came_up_has_survived_its_capture() -> None:
    found, findings = read(FAILED.split("(EngineCore")[0] + stats(5.0, 1))
    assert "has_capture_failed" not in found
    assert findings == []


def test_an_engine_that_died_later() -> None:
    text = (
        GRAPH_0_20
        + "(EngineCore pid=160) ERROR 06-14 11:00:00 [core.py:1] EngineCore encountered\n"
    )
    found, findings = read(text)
    assert found == {**GRAPH_FACTS, "has_stopped": True}
    assert [code for code, _, _ in findings] == [Code.LOG_STOPPED]


def test_a_mode_that_was_narrowed_and_sizes_that_were_thinned() -> None:
    found, findings = read(
        "WARNING 06-14 10:02:12 [gpu_model_runner.py:1] CUDAGraphMode.FULL_AND_PIECEWISE is not "
        "supported with GDNAttentionBackend backend (support: AttentionCGSupport.UNIFORM_BATCH); "
        "setting cudagraph_mode=PIECEWISE\n"
        "INFO 06-14 10:02:12 [utils.py:571] Adjusted ACL graph batch sizes for Qwen3ForCausalLM "
        "model (layers: 28): 67 → 11 sizes\n"
        "INFO 06-14 10:02:13 [utils.py:583] No adjustment needed for ACL graph batch sizes: Qwen3 "
        "model (layers: 28) with 11 sizes\n"
    )
    assert found == {"is_eager": False, "graph_mode": "PIECEWISE"}
    assert findings == [
        (Code.LOG_MODE_NARROWED, 1, {"wanted": "FULL_AND_PIECEWISE", "mode": "PIECEWISE"}),
        (Code.LOG_SIZES_THINNED, 1, {"before": "67", "after": "11"}),
        (Code.LOG_NOT_READY, 1, {}),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#!/bin/sh\nvllm serve m --port 8000\ngrep 'Avg generation throughput' log\n",
        "# Engine 000: Avg generation throughput: 17.0 tokens/s\nvllm serve m\n",
        "services: {a: {command: [vllm, serve, m]}}\n",
        "INFO:     Application startup complete.\n",
        "2026-06-14 10:02:11 INFO some other program\n",
        "\x00\x01\x02",
    ],
)
def test_what_is_no_log(text: str) -> None:
    assert not looks_like_log(text)


def test_a_log_is_known_by_its_end_too() -> None:
    assert looks_like_log("noise\n" * 100_000 + EAGER)


lines = st.sampled_from((GRAPH_0_20 + OLD_0_8 + FAILED + EAGER + stats(1.0, 1)).split("\n"))


@settings(deadline=None)
@given(st.lists(lines | st.text(max_size=40), max_size=20))
def test_no_lines_raise(some: list[str]) -> None:
    text = "\n".join(some)
    looks_like_log(text)
    log, findings = read_log(text, "x.log")
    assert log.origin.file == "x.log"
    assert all(finding.origin.line <= text.count("\n") + 1 for finding in findings)


@settings(deadline=None)
@given(st.sampled_from([GRAPH_0_20, OLD_0_8]), st.integers(0, 3_000), st.text(max_size=5))
def test_no_damage_raises(text: str, at: int, noise: str) -> None:
    log, _ = read_log(text[:at] + noise + text[at + 1 :], "x.log")
    assert log.origin == Origin("x.log", log.origin.line)

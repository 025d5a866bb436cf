from typing import Final

import pytest

from gateway.adoption.candidate import Fleet
from gateway.adoption.codes import Code
from gateway.adoption.findings import Origin
from gateway.adoption.rules import traps_of
from gateway.adoption.sources import EngineLog, Launch
from tests.unit.adoption.rules.backends import Case, backend, found_in, log

LARGE: Final = {
    "model": "/models/qwen3.5-27B-w8a8",
    "served_names": ("qwen3.5-27b",),
    "max_model_len": 40960,
}
LAUNCH: Final = Launch(Origin("serve.sh", 7), ("vllm",), log_files=("/var/log/engine.log",))


def left(log: EngineLog, *candidates: object) -> Fleet:
    return Fleet(candidates, logs=(log,))  # type: ignore[arg-type]


FIRES: Final = (
    Case(
        Code.EAGER_THOUGH_GRAPH,
        "the only backend",
        left(log(is_eager=True, max_model_len=16384), backend()),
        {"promised": "FULL_DECODE_ONLY", "launch": "serve.sh:7"},
    ),
    Case(
        Code.EAGER_THOUGH_GRAPH,
        "the one that writes this file",
        left(log(is_eager=True), backend(launch=LAUNCH), backend(name="b")),
    ),
    Case(
        Code.EAGER_THOUGH_GRAPH,
        "the one with this context",
        left(log(is_eager=True, max_model_len=40960), backend(), backend(LARGE, name="b")),
    ),
    Case(
        Code.CAPTURE_DIFFERS,
        "the only backend",
        left(log(capture_sizes=(1, 2)), backend()),
        {"told": "[1, 4]", "running": "[1, 2]"},
    ),
    Case(Code.EAGER_UNEXPLAINED, "nothing else", left(log(is_eager=True))),
    Case(
        Code.EAGER_UNEXPLAINED,
        "of none of the backends",
        left(log(is_eager=True, port=9999), backend({"port": 8000})),
    ),
    Case(Code.CAPTURE_TRUNCATED, "nothing else", left(log(truncated_to=8)), {"largest": "8"}),
    Case(
        Code.KV_BELOW_BATCH,
        "nothing else",
        left(log(concurrency_ratio=3.6, max_num_seqs=8, is_eager=True)),
    ),
    Case(
        Code.PREFIX_HITS_ZERO,
        "nothing else",
        left(log(prefix_hit_ratio=0.0, model="/models/Qwen3.5-9B")),
    ),
)

QUIET: Final = (
    Case(
        Code.EAGER_THOUGH_GRAPH,
        "of several alike",
        left(log(is_eager=True), backend(), backend(name="b")),
    ),
    Case(
        Code.EAGER_THOUGH_GRAPH,
        "a backend that has a log",
        left(log(is_eager=True), backend(log=log())),
    ),
    Case(
        Code.EAGER_THOUGH_GRAPH,
        "another context",
        left(log(is_eager=True, max_model_len=8192), backend()),
    ),
    Case(
        Code.EAGER_UNEXPLAINED,
        "of several alike",
        left(log(is_eager=True), backend(), backend(name="b")),
    ),
    Case(Code.EAGER_UNEXPLAINED, "told as that of a backend", left(log(is_eager=True), backend())),
    Case(Code.EAGER_UNEXPLAINED, "graphs", left(log(is_eager=False))),
    Case(Code.CAPTURE_DIFFERS, "the same", left(log(capture_sizes=(1, 4)), backend())),
    Case(
        Code.CAPTURE_TRUNCATED,
        "at a full batch",
        left(log(truncated_to=8, max_num_seqs=8)),
    ),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()
    assert found[0].origin.file in ("engine.log", "serve.sh")


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []


def test_a_log_alone_is_no_backend() -> None:
    assert {finding.backend for finding in traps_of(left(log(is_eager=True)))} == {""}

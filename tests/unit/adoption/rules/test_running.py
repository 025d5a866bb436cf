from typing import Final

import pytest

from gateway.adoption.codes import Code
from gateway.config.vocabulary import Tier
from gateway.fleet.account import EngineFacts
from gateway.fleet.health.evidence import ModelCard
from tests.unit.adoption.rules.backends import (
    Case,
    account,
    backend,
    case,
    container,
    found_in,
    log,
)

EAGER: Final = {"is_enforce_eager": True, "cudagraph_mode": None, "capture_sizes": None}
NO_SIZES: Final = {"capture_sizes": None}
CARD: Final = ModelCard("qwen3.5-9b", root="/models/Qwen3.5-9B", max_model_len=16384)


def lists(*cards: ModelCard) -> dict[str, object]:
    return {"account": account(cards=cards)}


FIRES: Final = (
    case(
        Code.EAGER_THOUGH_GRAPH,
        "says the log",
        backend(log=log(is_eager=True), tier=Tier.EAGER, is_eager=True),
        promised="FULL_DECODE_ONLY",
        launch="serve.sh:7",
    ),
    case(
        Code.EAGER_THOUGH_GRAPH,
        "says the server",
        backend(account=account(engine=EngineFacts(is_eager=True)), is_eager=True),
    ),
    case(
        Code.EAGER_THOUGH_GRAPH,
        "says the server's mode",
        backend(account=account(engine=EngineFacts(is_eager=False, graph_mode="NONE"))),
    ),
    case(
        Code.EAGER_UNEXPLAINED,
        "a log alone",
        backend(launch=None, arguments=None, container=None, log=log(is_eager=True)),
    ),
    case(
        Code.CAPTURE_DIFFERS,
        "says the log",
        backend(log=log(capture_sizes=(1, 2))),
        told="[1, 4]",
        running="[1, 2]",
    ),
    case(
        Code.CAPTURE_DIFFERS,
        "says the server",
        backend(account=account(engine=EngineFacts(capture_sizes=(1, 8)))),
        running="[1, 8]",
    ),
    case(
        Code.CAPTURE_TRUNCATED,
        "no command",
        backend(arguments=None, max_num_seqs=None, capture_sizes=None, log=log(truncated_to=8)),
        largest="8",
        above="9",
        seqs="?",
    ),
    case(
        Code.CAPTURE_TRUNCATED,
        "below what the command asks for",
        backend(NO_SIZES | {"max_num_seqs": 16}, log=log(truncated_to=8)),
        seqs="16",
    ),
    case(
        Code.KV_BELOW_BATCH,
        "eager",
        backend(EAGER | {"max_num_seqs": 8}, log=log(concurrency_ratio=3.61)),
        ratio="3.61",
        batch="8",
        length="16384",
    ),
    case(
        Code.KV_BELOW_BATCH,
        "below the largest size",
        backend(log=log(concurrency_ratio=3.0, concurrency_tokens=8192)),
        batch="4",
        length="8192",
    ),
    case(
        Code.NAME_MISSING,
        "another name",
        backend(**lists(ModelCard("qwen3.5-27b"))),
        names="qwen3.5-9b",
        lists="qwen3.5-27b",
        url="http://127.0.0.1:8000",
    ),
    case(
        Code.NAME_MISSING,
        "one of two, by case",
        backend({"served_names": ("qwen3.5-9b", "Qwen")}, **lists(CARD, ModelCard("qwen"))),
        names="Qwen",
        lists="qwen3.5-9b, qwen",
    ),
    case(Code.NAME_MISSING, "nothing", backend(**lists()), lists="-"),
    case(
        Code.OTHER_VERSION,
        "not that of the image",
        backend(account=account(version="0.18.1+empty")),
        running="0.18.1+empty",
        image="quay.io/ascend/vllm-ascend:v0.23.0-310p",
    ),
)

QUIET: Final = (
    case(Code.EAGER_THOUGH_GRAPH, "meant", backend(EAGER, log=log(is_eager=True))),
    case(
        Code.EAGER_THOUGH_GRAPH,
        "meant by -O0",
        backend({"optimization_level": 0}, log=log(is_eager=True)),
    ),
    case(Code.EAGER_THOUGH_GRAPH, "graphs", backend(log=log(is_eager=False))),
    case(
        Code.EAGER_THOUGH_GRAPH,
        "an old log, and a server that says otherwise",
        backend(
            log=log(is_eager=True),
            account=account(engine=EngineFacts(is_eager=False, graph_mode="FULL_DECODE_ONLY")),
        ),
    ),
    case(Code.EAGER_UNEXPLAINED, "a command explains", backend(EAGER, log=log(is_eager=True))),
    case(
        Code.EAGER_UNEXPLAINED,
        "graphs",
        backend(launch=None, arguments=None, log=log(is_eager=False)),
    ),
    case(Code.CAPTURE_DIFFERS, "the same", backend(log=log(capture_sizes=(4, 1)))),
    case(Code.CAPTURE_DIFFERS, "not told", backend(NO_SIZES, log=log(capture_sizes=(1, 2)))),
    case(
        Code.CAPTURE_DIFFERS,
        "eager, which is told as that",
        backend(log=log(is_eager=True, capture_sizes=())),
    ),
    case(Code.CAPTURE_TRUNCATED, "at a full batch", backend(log=log(truncated_to=4))),
    case(
        Code.CAPTURE_TRUNCATED,
        "off the grid, which is told as that",
        backend(NO_SIZES | {"max_num_seqs": 12}, log=log(truncated_to=8)),
    ),
    case(
        Code.CAPTURE_TRUNCATED,
        "too small sizes, which are told as that",
        backend({"max_num_seqs": 8}, log=log(truncated_to=4)),
    ),
    case(Code.CAPTURE_TRUNCATED, "eager", backend(EAGER, log=log(truncated_to=1))),
    case(Code.KV_BELOW_BATCH, "enough", backend(log=log(concurrency_ratio=4.05))),
    case(
        Code.KV_BELOW_BATCH,
        "enough for what is captured",
        backend({"max_num_seqs": 8}, log=log(concurrency_ratio=4.05)),
    ),
    case(Code.KV_BELOW_BATCH, "not told", backend(log=log())),
    case(Code.NAME_MISSING, "listed", backend(**lists(CARD))),
    case(Code.NAME_MISSING, "not asked", backend(account=account())),
    case(
        Code.NAME_MISSING,
        "the path is the name",
        backend({"served_names": ()}, **lists(ModelCard("/models/Qwen3.5-9B"))),
    ),
    case(Code.OTHER_VERSION, "the same release", backend(account=account(version="0.23.0+empty"))),
    case(
        Code.OTHER_VERSION,
        "an image without version",
        backend(container=container(image="llm:prod"), account=account(version="0.18.1")),
    ),
    case(Code.OTHER_VERSION, "not told", backend(account=account())),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []


def test_what_runs_is_pointed_at_where_it_was_said() -> None:
    by_log = case(Code.EAGER_THOUGH_GRAPH, "", backend(log=log(is_eager=True)))
    assert [str(found.origin) for found in found_in(by_log)] == ["engine.log:2"]

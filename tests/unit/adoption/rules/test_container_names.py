from dataclasses import replace
from typing import Final

import pytest

from gateway.adoption.candidate import Fleet
from gateway.adoption.codes import Code
from tests.unit.adoption.rules.backends import (
    Case,
    backend,
    by_hand,
    case,
    container,
    found_in,
    on_host,
)

SECOND: Final = container(name="vllm-ascend-qwen3.5-27b", npus=(2, 3), environment={})
LARGE: Final = {"model": "/models/qwen3.5-27B-w8a8", "served_names": ("qwen3.5-27b",)}


def alone(**changes: object) -> Fleet:
    return Fleet(containers=(container(**changes),))


FIRES: Final = (
    case(
        Code.CONTAINER_MISLEADS,
        "the name of another model",
        backend(container=container(name="vllm-ascend-qwen3.5")),
        backend(
            {"model": "/w/Qwen3.5-2B-W8A8", "served_names": ("qwen3.5",)},
            name="b",
            container=replace(SECOND, name="gw-2"),
        ),
        container="vllm-ascend-qwen3.5",
        reads_as="qwen3.5",
        serves="qwen3.5-9b",
        better="vllm-ascend-qwen3.5-9b",
    ),
    case(
        Code.CONTAINER_MISLEADS,
        "another version",
        backend(LARGE, container=container(name="vllm-ascend-qwen3")),
        reads_as="qwen3",
        serves="qwen3.5-27b",
    ),
    case(
        Code.CONTAINER_MISLEADS,
        "another size, of a container that no source starts",
        replace(by_hand(container(name="qwen3.5-9b"), told=LARGE), container=None),
        reads_as="9B",
    ),
    case(
        Code.CONTAINER_WITHOUT_SIZE,
        "the family only",
        backend(container=container(name="vllm-ascend-qwen3.5")),
        container="vllm-ascend-qwen3.5",
        better="vllm-ascend-qwen3.5-9b",
    ),
    Case(
        Code.CONTAINER_WITHOUT_SIZE,
        "no engine in it yet",
        alone(name="vllm-ascend-qwen3.5"),
        {"better": "vllm-ascend-qwen3.5-9b"},
    ),
)

QUIET: Final = (
    case(Code.CONTAINER_MISLEADS, "the model", backend()),
    case(Code.CONTAINER_MISLEADS, "no name", on_host()),
    case(Code.CONTAINER_MISLEADS, "says nothing", backend(container=container(name="gw-1"))),
    case(
        Code.CONTAINER_MISLEADS,
        "twins have the same name",
        backend(container=container(name="qwen3.5-9b")),
        backend(name="b", container=replace(SECOND, name="qwen3.5-9b-eager")),
    ),
    case(Code.CONTAINER_WITHOUT_SIZE, "the size as well", backend()),
    case(Code.CONTAINER_WITHOUT_SIZE, "no family", backend(container=container(name="gw-1"))),
    case(
        Code.CONTAINER_WITHOUT_SIZE,
        "another version, which is told as that",
        backend(container=container(name="vllm-ascend-qwen3")),
    ),
    case(
        Code.CONTAINER_WITHOUT_SIZE,
        "a model without size in its name",
        backend(
            {"model": "/models/qwq", "served_names": ("qwq",)}, container=container(name="qwq")
        ),
    ),
    case(
        Code.CONTAINER_WITHOUT_SIZE,
        "the name of another model, which is told as that",
        backend(container=container(name="vllm-ascend-qwen3.5")),
        backend({"served_names": ("qwen3.5",)}, name="b", container=replace(SECOND, name="gw-2")),
    ),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []

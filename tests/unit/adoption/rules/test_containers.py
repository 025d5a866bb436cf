from dataclasses import replace
from typing import Final

import pytest

from gateway.adoption.candidate import Fleet
from gateway.adoption.codes import Code
from gateway.adoption.sources import Mount
from tests.unit.adoption.rules.backends import (
    Case,
    backend,
    by_hand,
    case,
    container,
    found_in,
    on_host,
)

OFFICIAL: Final = "quay.io/ascend/vllm-ascend"
SHELL: Final = container(argv=("bash",))


def alone(**changes: object) -> Fleet:
    return Fleet(containers=(container(**changes),))


FIRES: Final = (
    case(Code.NOT_THE_MAIN_PROCESS, "a shell", by_hand(SHELL), command="bash"),
    case(
        Code.NOT_THE_MAIN_PROCESS,
        "the shell of the image",
        by_hand(container(argv=(), image=OFFICIAL)),
        command=f"CMD ({OFFICIAL})",
    ),
    Case(
        Code.NOT_THE_MAIN_PROCESS,
        "no engine in it yet",
        alone(argv=("/bin/bash",)),
        {"command": "/bin/bash", "container": "vllm-ascend-qwen3.5-9b"},
    ),
    Case(Code.NOT_THE_MAIN_PROCESS, "sleep", alone(argv=("sleep", "infinity"))),
    Case(Code.NOT_THE_MAIN_PROCESS, "tail", alone(argv=("tail", "-f", "/dev/null"))),
    Case(Code.NOT_THE_MAIN_PROCESS, "tini", alone(argv=("tini", "--", "bash", "-l"))),
    Case(Code.NOT_THE_MAIN_PROCESS, "sleep by a shell", alone(argv=("sh", "-c", "sleep inf"))),
    Case(
        Code.NOT_THE_MAIN_PROCESS,
        "a loop",
        alone(argv=("bash", "-lc", "while true; do sleep 60; done")),
    ),
    case(
        Code.LOG_LOST,
        "docker exec -d",
        replace(
            by_hand(SHELL),
            launch=replace(
                by_hand(SHELL).launch or pytest.fail("no launch"),
                log_files=(),
            ),
        ),
        container="vllm-ascend-qwen3.5-9b",
    ),
    case(
        Code.MODEL_NOT_MOUNTED,
        "only a folder of scripts",
        backend(container=container(mounts=(Mount("/data/models", "/models/scripts"),))),
        model="/models/Qwen3.5-9B",
        mounts="/models/scripts",
    ),
    case(
        Code.MODEL_NOT_MOUNTED,
        "a folder with the same beginning",
        backend(container=container(mounts=(Mount("/m", "/models/Qwen3.5-9"),))),
    ),
    case(Code.MODEL_NOT_MOUNTED, "nothing", backend(container=container(mounts=())), mounts="-"),
    case(
        Code.IMAGE_NOT_PINNED,
        "no tag",
        backend(container=container(image=OFFICIAL)),
        image=OFFICIAL,
    ),
    case(Code.IMAGE_NOT_PINNED, "latest", backend(container=container(image=f"{OFFICIAL}:latest"))),
    case(
        Code.IMAGE_NOT_PINNED, "a branch", backend(container=container(image="x:5000/v:main-310p"))
    ),
)

QUIET: Final = (
    case(Code.NOT_THE_MAIN_PROCESS, "the engine", backend()),
    Case(Code.NOT_THE_MAIN_PROCESS, "a script", alone(argv=("bash", "/start.sh"))),
    Case(Code.NOT_THE_MAIN_PROCESS, "a program", alone(argv=("/entrypoint.sh",))),
    Case(Code.NOT_THE_MAIN_PROCESS, "by a shell", alone(argv=("bash", "-c", "vllm serve /m"))),
    Case(Code.NOT_THE_MAIN_PROCESS, "left to the image", alone(argv=())),
    Case(
        Code.NOT_THE_MAIN_PROCESS,
        "not for an engine",
        alone(argv=("bash",), image="debian:12", npus=(), environment={}),
    ),
    case(Code.LOG_LOST, "into a file", by_hand(SHELL)),
    case(Code.LOG_LOST, "the container's own", backend()),
    case(Code.LOG_LOST, "no container", on_host()),
    case(Code.MODEL_NOT_MOUNTED, "a folder above", backend()),
    case(
        Code.MODEL_NOT_MOUNTED,
        "itself, with a slash",
        backend(
            {"model": "/models/Qwen3.5-9B/"},
            container=container(mounts=(Mount("/m", "/models/Qwen3.5-9B"),)),
        ),
    ),
    case(
        Code.MODEL_NOT_MOUNTED,
        "everything",
        backend(container=container(mounts=(Mount("/", "/"),))),
    ),
    case(
        Code.MODEL_NOT_MOUNTED,
        "from a hub",
        backend({"model": "Qwen/Qwen3.5-9B"}, container=container(mounts=())),
    ),
    case(Code.MODEL_NOT_MOUNTED, "no container", on_host()),
    case(Code.IMAGE_NOT_PINNED, "a release", backend()),
    case(
        Code.IMAGE_NOT_PINNED,
        "a digest",
        backend(container=container(image=f"{OFFICIAL}@sha256:{'0' * 64}")),
    ),
    case(
        Code.IMAGE_NOT_PINNED, "a tag of one's own", backend(container=container(image="llm:prod7"))
    ),
    Case(Code.IMAGE_NOT_PINNED, "not for an engine", alone(image="nginx", npus=(), environment={})),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []


def test_a_container_alone_is_no_backend() -> None:
    found = found_in(Case(Code.NOT_THE_MAIN_PROCESS, "", alone(argv=("bash",))))
    assert [(finding.backend, str(finding.origin)) for finding in found] == [("", "docker.sh:3")]

from typing import Final

import pytest

from gateway.adoption.candidate import Fleet
from gateway.adoption.codes import Code
from gateway.adoption.rules.device_list import read_devices
from tests.unit.adoption.rules.backends import (
    Case,
    backend,
    by_hand,
    case,
    container,
    found_in,
    on_host,
)

VISIBLE: Final = "ASCEND_RT_VISIBLE_DEVICES"
OTHER_CARD: Final = container(name="vllm-ascend-qwen3.5-27b", npus=(2, 3), environment={})

FIRES: Final = (
    case(
        Code.NPU_NOT_MOUNTED,
        "the other card is visible",
        backend(container=container(environment={VISIBLE: "2,3"})),
        visible="2, 3",
        mounted="0, 1",
        missing="2, 3",
        container="vllm-ascend-qwen3.5-9b",
    ),
    case(Code.NPU_NOT_MOUNTED, "one too many", backend(env={VISIBLE: "1,2"}), missing="2"),
    Case(
        Code.NPU_NOT_MOUNTED,
        "a container without engine",
        Fleet(containers=(container(environment={VISIBLE: "2,3"}, argv=("bash",)),)),
        {"missing": "2, 3"},
    ),
    case(Code.NPU_NONE_MOUNTED, "no device", backend(container=container(npus=(), environment={}))),
    case(
        Code.NPU_LIST_CUT,
        "a blank",
        on_host(env={VISIBLE: "0,1"}, visible_npus=(0, 1), environment={VISIBLE: "0, 1"}),
        text="0, 1",
        read="0",
        right="0,1",
    ),
    case(
        Code.NPU_LIST_CUT,
        "descending",
        on_host(visible_npus=(1, 0), environment={VISIBLE: "1,0"}),
        read="1",
        right="0,1",
    ),
    case(
        Code.NPU_LIST_CUT,
        "quotes that came along",
        on_host(visible_npus=(0, 1), environment={VISIBLE: '"0,1"'}),
        read="-",
        right="0,1",
    ),
    case(
        Code.NPU_VARIABLE_IGNORED,
        "that of the container runtime",
        on_host(env={"ASCEND_VISIBLE_DEVICES": "2,3"}),
        variable="ASCEND_VISIBLE_DEVICES",
        value="2,3",
    ),
    case(
        Code.NPU_VARIABLE_IGNORED,
        "that of another vendor",
        on_host(env={"CUDA_VISIBLE_DEVICES": "0"}),
        variable="CUDA_VISIBLE_DEVICES",
    ),
    case(
        Code.TENSOR_PARALLEL_MISMATCH,
        "wider than the list",
        backend({"tensor_parallel": 4, "capture_sizes": (4,)}),
        needed="4",
        npus="2",
    ),
    case(
        Code.TENSOR_PARALLEL_MISMATCH,
        "an NPU that lies idle",
        backend({"tensor_parallel": 1}),
        needed="1",
        npus="2",
    ),
    case(
        Code.TENSOR_PARALLEL_MISMATCH,
        "no width means one",
        backend({"tensor_parallel": None}),
        needed="1",
    ),
    case(
        Code.TENSOR_PARALLEL_MISMATCH,
        "replicas count",
        backend({"data_parallel": 2}),
        needed="4",
    ),
    case(
        Code.TENSOR_PARALLEL_MISMATCH,
        "a cluster gives fewer",
        backend(container=container(npus=(), npus_wanted=1, environment={}, address="qwen")),
        needed="2",
        npus="1",
    ),
    case(
        Code.TENSOR_PARALLEL_MISMATCH,
        "mounted are fewer",
        backend(container=container(npus=(0,), environment={})),
        npus="1",
    ),
    case(
        Code.NPU_SHARED,
        "one in common",
        backend(),
        backend(container=container(name="b", npus=(1, 2), environment={VISIBLE: "1,2"})),
        npus="1",
        other="qwen3.5-9b",
        place="docker.sh:3",
    ),
    case(
        Code.NPU_SHARED,
        "without a list, what is mounted is used",
        backend(container=container(environment={})),
        backend(name="b", container=container(name="b", environment={})),
        npus="0, 1",
    ),
    case(
        Code.NPU_MOUNTED_TWICE,
        "mounted in both, visible in one",
        backend(),
        backend(name="b", container=container(name="b", environment={VISIBLE: "2,3"})),
        npus="0, 1",
        container="b",
        other="vllm-ascend-qwen3.5-9b",
    ),
    Case(
        Code.NPU_MOUNTED_TWICE,
        "a container without engine beside a backend",
        Fleet(
            (backend(),),
            containers=(container(name="b", environment={VISIBLE: "2,3"}),),
        ),
    ),
)

QUIET: Final = (
    case(Code.NPU_NOT_MOUNTED, "the same", backend()),
    case(Code.NPU_NOT_MOUNTED, "all mounted", backend(container=container(npus=None))),
    case(Code.NPU_NOT_MOUNTED, "no container", on_host(env={VISIBLE: "2,3"})),
    case(
        Code.NPU_NOT_MOUNTED,
        "a cluster chooses",
        backend(container=container(npus=(), npus_wanted=2)),
    ),
    case(Code.NPU_NONE_MOUNTED, "privileged", backend(container=container(npus=None))),
    case(Code.NPU_NONE_MOUNTED, "chosen", backend(container=container(npus=(), npus_wanted=2))),
    case(
        Code.NPU_NONE_MOUNTED,
        "mounted by the runtime",
        backend(container=container(npus=(), environment={"ASCEND_VISIBLE_DEVICES": "npu-x"})),
    ),
    Case(
        Code.NPU_NONE_MOUNTED,
        "a container that is no engine's",
        Fleet(containers=(container(npus=(), image="redis:7", environment={}),)),
    ),
    case(Code.NPU_LIST_CUT, "right", backend()),
    case(
        Code.NPU_LIST_CUT,
        "a blank at the end",
        on_host(visible_npus=(0, 1), environment={VISIBLE: "0,1 "}),
    ),
    case(Code.NPU_LIST_CUT, "not set", on_host()),
    case(Code.NPU_LIST_CUT, "empty", on_host(environment={VISIBLE: ""})),
    case(
        Code.NPU_VARIABLE_IGNORED,
        "given to docker run",
        backend(container=container(environment={"ASCEND_VISIBLE_DEVICES": "0,1"})),
    ),
    case(
        Code.NPU_VARIABLE_IGNORED,
        "beside the right one",
        on_host(env={"ASCEND_VISIBLE_DEVICES": "0,1", VISIBLE: "0,1"}),
    ),
    case(Code.TENSOR_PARALLEL_MISMATCH, "as many", backend()),
    case(
        Code.TENSOR_PARALLEL_MISMATCH,
        "all of the machine mounted, two used",
        backend(container=container(npus=tuple(range(8)), environment={})),
    ),
    case(Code.TENSOR_PARALLEL_MISMATCH, "nothing told", on_host()),
    case(
        Code.TENSOR_PARALLEL_MISMATCH, "over machines", backend({"tensor_parallel": 4, "nodes": 2})
    ),
    case(
        Code.TENSOR_PARALLEL_MISMATCH,
        "one rank of several",
        backend({"data_parallel": 4, "data_parallel_rank": 0}),
    ),
    case(
        Code.TENSOR_PARALLEL_MISMATCH,
        "stages count",
        backend({"tensor_parallel": 1, "pipeline_parallel": 2}),
    ),
    case(
        Code.TENSOR_PARALLEL_MISMATCH,
        "a list with a blank means what it was meant for",
        on_host(visible_npus=(0, 1), environment={VISIBLE: "0, 1"}),
    ),
    case(Code.NPU_SHARED, "different", backend(), backend(name="b", container=OTHER_CARD)),
    case(Code.NPU_SHARED, "machines apart", backend(node="a"), backend(name="b", node="b")),
    case(
        Code.NPU_SHARED,
        "only mounted twice",
        backend(),
        backend(name="b", container=container(name="b", environment={VISIBLE: "2,3"})),
    ),
    case(Code.NPU_MOUNTED_TWICE, "different", backend(), backend(name="b", container=OTHER_CARD)),
    case(Code.NPU_MOUNTED_TWICE, "shared, which says more", backend(), backend(name="b")),
    case(
        Code.NPU_MOUNTED_TWICE,
        "two engines of one container",
        by_hand(container(npus=(0, 1, 2, 3)), env={VISIBLE: "0,1"}),
        by_hand(container(npus=(0, 1, 2, 3)), env={VISIBLE: "2,3"}, name="b"),
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


@pytest.mark.parametrize(
    ("text", "meant", "read"),
    [
        ("0,1", (0, 1), (0, 1)),
        ("0, 1", (0, 1), (0,)),
        (" 0,1", (0, 1), ()),
        ("0 ,1", (0, 1), (0,)),
        ("0,1,", (0, 1), (0, 1)),
        ("1,0", (1, 0), (1,)),
        ("0,0", (0, 0), (0,)),
        ("0;1", (0, 1), (0,)),
        ("0-3", (0, 3), (0,)),
        ("'0,1'", (0, 1), ()),
        ("npu", (), ()),
        ("", (), ()),
        ("7", (7,), (7,)),
    ],
)
def test_devices_as_cann_reads_them(
    text: str, meant: tuple[int, ...], read: tuple[int, ...]
) -> None:
    assert read_devices(text) == (meant, read)


def test_a_long_list_is_read_in_bounds() -> None:
    devices = read_devices(",".join(map(str, range(100_000))))
    assert len(devices.read) < 1000


def test_a_finding_points_at_the_line_that_sets_the_list() -> None:
    of_launch = on_host(visible_npus=(0, 1), environment={VISIBLE: "0, 1"})
    of_container = backend(container=container(environment={VISIBLE: "0,1"}))
    by_container = container(environment={VISIBLE: "0, 1"})
    told = [
        str(found.origin)
        for candidate in (
            of_launch,
            backend(container=by_container, visible_npus=(0, 1)),
            of_container,
        )
        for found in found_in(case(Code.NPU_LIST_CUT, "", candidate))
    ]
    assert told == ["serve.sh:7", "docker.sh:3"]

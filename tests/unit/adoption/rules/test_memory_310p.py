from typing import Final

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.rules.memory_310p import mask_bytes
from gateway.config.vocabulary import Chip
from tests.unit.adoption.rules.backends import Case, backend, case, found_in

OLD: Final = {"version": (0, 20, 2)}
LONG: Final = {"max_model_len": 53248}

FIRES: Final = (
    case(Code.CONTEXT_UNSET_310P, "not given", backend({"max_model_len": None})),
    case(
        Code.MASK_MEMORY_310P,
        "the 9B",
        backend(LONG | {"gpu_memory_utilization": 0.6}, **OLD),
        length="53248",
        mask_gb="5.7",
    ),
    case(
        Code.MASK_MEMORY_310P,
        "the 27B",
        backend({"max_model_len": 40960, "gpu_memory_utilization": 0.8}, **OLD),
        mask_gb="3.4",
    ),
    case(
        Code.MASK_MEMORY_310P,
        "the KV cache is of a fixed size",
        backend(LONG | {"kv_cache_memory_bytes": 1 << 30}, **OLD),
    ),
    case(
        Code.MEMORY_OVERCOMMITTED_310P,
        "0.9 and a long context",
        backend(LONG | {"gpu_memory_utilization": 0.9}, **OLD),
        ratio="0.9",
        mask_gb="5.7",
        npu_gb="45.8",
        better="0.78",
    ),
    case(
        Code.MEMORY_OVERCOMMITTED_310P,
        "the default share",
        backend(LONG, **OLD),
        ratio="0.92",
    ),
    case(
        Code.MEMORY_OVERCOMMITTED_310P,
        "a mask larger than the NPU",
        backend({"max_model_len": 262144}, **OLD),
        better="0.10",
    ),
)

QUIET: Final = (
    case(Code.CONTEXT_UNSET_310P, "given", backend()),
    case(
        Code.CONTEXT_UNSET_310P,
        "as long as memory allows",
        backend({"max_model_len": None, "is_max_model_len_auto": True}),
    ),
    case(
        Code.CONTEXT_UNSET_310P,
        "another chip",
        backend({"max_model_len": None}, chip=Chip.A2),
    ),
    case(Code.MASK_MEMORY_310P, "short", backend(**OLD)),
    case(Code.MASK_MEMORY_310P, "compressed from 0.23", backend(LONG)),
    case(Code.MASK_MEMORY_310P, "another chip", backend(LONG, chip=Chip.A2, **OLD)),
    case(Code.MASK_MEMORY_310P, "too much, which is told as that", backend(LONG, **OLD)),
    case(
        Code.MEMORY_OVERCOMMITTED_310P,
        "0.6 leaves room",
        backend(LONG | {"gpu_memory_utilization": 0.6}, **OLD),
    ),
    case(Code.MEMORY_OVERCOMMITTED_310P, "compressed from 0.23", backend(LONG)),
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
    ("length", "gb"), [(16384, 0.54), (32768, 2.1), (40960, 3.4), (53248, 5.7)]
)
def test_the_mask_grows_with_the_square_of_the_context(length: int, gb: float) -> None:
    assert mask_bytes(length) / 1e9 == pytest.approx(gb, rel=0.03)

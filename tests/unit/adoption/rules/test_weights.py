from typing import Final

import pytest

from gateway.adoption.codes import Code
from tests.unit.adoption.rules.backends import Case, backend, case, found_in

LONG_ALLOWED: Final = {"VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"}
SHARDED: Final = {
    "model": "/models/Qwen3-8B-w8a8sc-310-vllm/TP2/Qwen3-8B-w8a8sc-310-vllm-tp2",
    "served_names": ("qwen3-8b",),
    "load_format": "sharded_state",
}
QWEN3: Final = {"model": "/models/Qwen3-8B", "max_model_len": 53248}

FIRES: Final = (
    case(
        Code.LONG_CONTEXT_ALLOWED,
        "set",
        backend({"max_model_len": 53248}, env=LONG_ALLOWED),
        length="53248",
    ),
    case(
        Code.LONG_CONTEXT_ALLOWED,
        "set for no length",
        backend({"max_model_len": None}, env=LONG_ALLOWED),
        length="-",
    ),
    case(
        Code.LONG_CONTEXT_REFUSED,
        "more than Qwen3 has",
        backend(QWEN3),
        length="53248",
        own="40960",
        model="/models/Qwen3-8B",
    ),
    case(
        Code.LONG_CONTEXT_REFUSED,
        "sharded weights without the variable",
        backend(SHARDED | {"max_model_len": 53248}),
    ),
    case(
        Code.SHARDED_FORMAT_MISSING,
        "not given",
        backend(SHARDED | {"load_format": None}),
        format="auto",
    ),
    case(
        Code.SHARDED_FORMAT_MISSING,
        "a folder by its width",
        backend({"model": "/models/m/TP4/m", "tensor_parallel": 4}),
    ),
    case(
        Code.SHARDED_OTHER_WIDTH,
        "cut for two",
        backend(SHARDED | {"tensor_parallel": 4}),
        width="2",
        tp="4",
    ),
    case(
        Code.SHARDED_OTHER_WIDTH,
        "no width means one",
        backend(SHARDED | {"tensor_parallel": None}),
        tp="1",
    ),
)

QUIET: Final = (
    case(Code.LONG_CONTEXT_ALLOWED, "off", backend(env={"VLLM_ALLOW_LONG_MAX_MODEL_LEN": "0"})),
    case(Code.LONG_CONTEXT_REFUSED, "allowed", backend(QWEN3, env=LONG_ALLOWED)),
    case(Code.LONG_CONTEXT_REFUSED, "all it has", backend(QWEN3 | {"max_model_len": 40960})),
    case(Code.LONG_CONTEXT_REFUSED, "stretched", backend(QWEN3, options=("--rope_scaling={}",))),
    case(
        Code.LONG_CONTEXT_REFUSED,
        "a later one has more",
        backend(QWEN3 | {"model": "/models/Qwen3-4B-Instruct-2507"}),
    ),
    case(Code.LONG_CONTEXT_REFUSED, "Qwen3.5 has more", backend({"max_model_len": 53248})),
    case(Code.SHARDED_FORMAT_MISSING, "given", backend(SHARDED)),
    case(Code.SHARDED_FORMAT_MISSING, "whole weights", backend()),
    case(
        Code.SHARDED_FORMAT_MISSING,
        "letters that only look like it",
        backend({"model": "/models/http2-llm"}),
    ),
    case(Code.SHARDED_OTHER_WIDTH, "the same", backend(SHARDED)),
    case(
        Code.SHARDED_OTHER_WIDTH,
        "no width in the name",
        backend(SHARDED | {"model": "/models/Qwen3-8B-w8a8sc", "tensor_parallel": 4}),
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

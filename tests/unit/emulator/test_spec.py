"""Specs refuse what no server could be started with."""

from typing import Any

import pytest

from gateway.emulator.presets import PRESETS, preset
from gateway.emulator.spec import BackendSpec, EngineSpec, StepCosts

COSTS = StepCosts(0.1, 0.01, 0.5, 0.05, prefill_tokens_per_s=100)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"max_num_seqs": 0}, "max_num_seqs"),
        ({"max_num_batched_tokens": 0}, "max_num_batched_tokens"),
        ({"block_size": 0}, "block_size"),
        ({"kv_tokens": 0}, "kv_tokens"),
        ({"kv_tokens": 255, "block_size": 128}, "two blocks"),
        ({"capture_sizes": (0, 4)}, "capture_sizes"),
    ],
)
def test_limits_that_no_engine_has(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        EngineSpec(COSTS, **fields)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"served_names": ()}, "served_names"),
        ({"time_scale": 0}, "time_scale"),
        ({"time_scale": -1}, "time_scale"),
        ({"max_model_len": 0}, "max_model_len"),
        ({"eos_one_in": 0}, "eos_one_in"),
    ],
)
def test_values_that_cannot_be_served(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        BackendSpec(**fields)


def test_a_context_longer_than_the_memory_is_refused() -> None:
    engine = EngineSpec(COSTS, kv_tokens=11 * 128)
    assert engine.largest_sequence_tokens == 10 * 128
    BackendSpec(engine=engine, max_model_len=10 * 128)
    with pytest.raises(ValueError, match="max_model_len 1281 does not fit"):
        BackendSpec(engine=engine, max_model_len=10 * 128 + 1)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_served(name: str) -> None:
    assert BackendSpec(engine=preset(name)).engine == PRESETS[name]


@pytest.mark.parametrize(
    ("path", "authorization", "is_let_in"),
    [
        ("/v1/models", None, False),
        ("/v1/models", "Bearer wrong", False),
        ("/v1/models", "bearer secret", False),
        ("/v1/models", "Bearer secret", True),
        ("/inference/v1/generate", None, False),
        ("/v2/rerank", None, False),
        ("/health", None, True),
        ("/tokenize", None, True),
        ("/rerank", None, True),
    ],
)
def test_the_key_guards_only_some_paths(
    path: str, authorization: str | None, is_let_in: bool
) -> None:
    assert BackendSpec(api_key="secret").lets_in(path, authorization) is is_let_in
    assert BackendSpec().lets_in(path, authorization)

"""The longest legal step of an engine."""

import pytest

from gateway.config.backend import BackendConfig
from gateway.config.steps import longest_step_s, longest_still_s


@pytest.mark.parametrize(
    ("fields", "least_s", "rate", "expected"),
    [
        ({"chip": "310P"}, 10.0, None, 10.0),  # 2 x (2048 / 500 + 1 / 17) is less
        ({"chip": "310P", "max_num_batched_tokens": 8192}, 10.0, None, 32.89),
        ({"max_num_batched_tokens": 8192}, 10.0, None, 32.89),  # unknown chips count as slow
        ({"chip": "310P"}, 1.0, None, 8.31),
        ({}, 1.0, None, 8.31),
        ({"chip": "A2"}, 1.0, None, 2.17),
        ({"chip": "A3"}, 1.0, None, 2.17),
        ({"chip": "A2"}, 5.0, None, 5.0),
        ({"tier": "eager"}, 1.0, None, 8.54),
        ({"served_name": "qwen3.5-27b"}, 1.0, None, 8.64),
        ({"chip": "A2", "max_num_batched_tokens": 8192}, 1.0, None, 8.31),
        ({"max_num_batched_tokens": 1}, 0.0, None, 0.12),
        ({"chip": "310P", "max_num_batched_tokens": 8192}, 10.0, 1400.0, 11.82),
        ({"longest_step_s": 2.0}, 10.0, None, 2.0),  # the file's own figure wins
        ({"longest_step_s": 90.0, "chip": "A2"}, 10.0, 1400.0, 90.0),
    ],
)
def test_table(
    fields: dict[str, object], least_s: float, rate: float | None, expected: float
) -> None:
    given = {"name": "b", "url": "http://h:1", "served_name": "m", **fields}
    backend = BackendConfig.model_validate(given)
    assert longest_step_s(backend, least_s, rate) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("fields", "prompt_bytes", "expected"),
    [
        ({}, 0, 10.0),
        ({}, 3_000, 10.0),  # 1,000 tokens take 2 s
        ({}, 60_000, 80.0),  # 20,000 tokens at 500 a second, twice
        ({"max_model_len": 8192}, 50_000_000, 32.77),  # a picture is no text
        ({"longest_step_s": 2.0}, 60_000, 10.0),
    ],
)
def test_a_long_prompt_may_stand_still_for_longer(
    fields: dict[str, object], prompt_bytes: int, expected: float
) -> None:
    given = {"name": "b", "url": "http://h:1", "served_name": "m", "chip": "310P", **fields}
    backend = BackendConfig.model_validate(given)
    assert longest_still_s(backend, 10.0, prompt_bytes) == pytest.approx(expected, abs=0.01)

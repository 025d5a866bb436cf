"""The longest legal step of an engine."""

import pytest

from gateway.config.backend import BackendConfig
from gateway.config.steps import longest_step_s


@pytest.mark.parametrize(
    ("fields", "least_s", "rate", "expected"),
    [
        ({"chip": "310P"}, 10.0, None, 10.0),  # 2 x (2048 / 500 + 1 / 17) is less
        ({"chip": "310P", "max_num_batched_tokens": 8192}, 10.0, None, 32.89),
        ({"max_num_batched_tokens": 8192}, 10.0, None, 32.89),  # unknown chips count as slow
        ({"chip": "A2", "max_num_batched_tokens": 8192}, 1.0, None, 8.31),
        ({"chip": "310P", "max_num_batched_tokens": 8192}, 10.0, 1400.0, 11.82),
        ({"longest_step_s": 2.0}, 10.0, None, 2.0),  # the file's own figure wins
    ],
)
def test_table(
    fields: dict[str, object], least_s: float, rate: float | None, expected: float
) -> None:
    given = {"name": "b", "url": "http://h:1", "served_name": "m", **fields}
    backend = BackendConfig.model_validate(given)
    assert longest_step_s(backend, least_s, rate) == pytest.approx(expected, abs=0.01)

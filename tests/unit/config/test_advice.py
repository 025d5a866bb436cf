"""The advice that pays most, and where it is not given."""

import pytest

from gateway.config.advice import advice_of
from gateway.config.backend import BackendConfig

CASES = [
    ({"max_num_seqs": 8, "capture_sizes": [1, 4]}, "--max-num-seqs 4"),
    ({"capture_sizes": [1, 2, 4, 8, 16]}, "--max-num-seqs 16"),
    ({"max_num_seqs": 12}, "--max-num-seqs 8"),
    ({"max_num_seqs": 40, "capture_sizes": [1, 2, 4, 8]}, "--max-num-seqs 8"),
    ({"max_num_seqs": 4, "capture_sizes": [1, 4]}, None),
    ({"max_num_seqs": 4, "capture_sizes": [4, 8]}, None),
    ({"max_num_seqs": 8}, None),
    ({}, None),
    ({"max_num_seqs": 8, "tier": "eager"}, None),
    ({"max_num_seqs": 1, "capture_sizes": [4]}, None),
]


def backend(**fields: object) -> BackendConfig:
    base = {"name": "b", "url": "http://h:1", "served_name": "m"}
    return BackendConfig.model_validate({**base, **fields})


@pytest.mark.parametrize(("fields", "option"), CASES)
def test_the_option_to_set(fields: dict[str, object], option: str | None) -> None:
    advice = advice_of(backend(**fields))
    assert (None if advice is None else advice.option) == option


def test_it_says_why_in_both_languages() -> None:
    advice = advice_of(backend(max_num_seqs=8, capture_sizes=[1, 4]))
    assert advice is not None
    for told in advice.told:
        assert "8" in told
        assert "5" in told
    assert "[1, 4, 8]" in advice.remedy.en


def test_on_310p_with_tensor_parallelism_two_sizes_are_suggested() -> None:
    pair = {"chip": "310P", "npus": [0, 1]}
    advice = advice_of(backend(max_num_seqs=8, capture_sizes=[1, 4], **pair))
    assert advice is not None
    assert "[4, 8]" in advice.remedy.en
    assert "[1, 4, 8]" not in advice.remedy.en

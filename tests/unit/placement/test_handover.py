"""Who gets a place that has come free among several gateways."""

import pytest

from gateway.placement.handover import heir


@pytest.mark.parametrize(
    ("own_s", "others", "name"),
    [
        (None, {}, None),
        (None, {"a": {"m": 0.0}}, "a"),
        (None, {"a": {"other": 9.0}}, None),
        (5.0, {"a": {"m": 5.5}}, None),
        (5.0, {"a": {"m": 6.5}}, "a"),
        (0.0, {"a": {"m": 3.0}, "b": {"m": 4.0}, "c": {"other": 99.0}}, "b"),
    ],
    ids=["nobody", "only there", "another model", "hardly longer", "longer", "the longest"],
)
def test_whoever_waits_longest(
    own_s: float | None, others: dict[str, dict[str, float]], name: str | None
) -> None:
    assert heir(["m"], own_s, others) == name

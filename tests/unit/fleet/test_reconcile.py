"""A backend's own list against the routing file."""

import pytest

from gateway.config.backend import BackendConfig
from gateway.fleet.health.evidence import ModelCard
from gateway.fleet.reconcile import DriftKind, reconcile

BACKEND = BackendConfig(
    name="b", url="http://h:1", served_name="m", root="/models/M", max_model_len=4096
)


@pytest.mark.parametrize(
    ("cards", "kinds"),
    [
        ([ModelCard("m", "/models/M", max_model_len=4096)], []),
        ([ModelCard("m", "/models/M/", max_model_len=8192)], []),
        ([ModelCard("m")], []),
        ([ModelCard("other")], [DriftKind.NAME_MISSING]),
        ([ModelCard("M")], [DriftKind.NAME_MISSING]),  # exact, with case
        ([], [DriftKind.NAME_MISSING]),
        ([ModelCard("m", "/models/Other")], [DriftKind.OTHER_ROOT]),
        ([ModelCard("m", "/models/M", max_model_len=2048)], [DriftKind.SHORTER_CONTEXT]),
        (
            [ModelCard("m", "/x", max_model_len=1)],
            [DriftKind.OTHER_ROOT, DriftKind.SHORTER_CONTEXT],
        ),
    ],
)
def test_drift(cards: list[ModelCard], kinds: list[DriftKind]) -> None:
    found = reconcile(BACKEND, frozenset({"m"}), tuple(cards))
    assert [d.kind for d in found] == kinds


def test_an_adapter_has_a_root_of_its_own() -> None:
    cards = (ModelCard("m", "/models/M"), ModelCard("lora", "/adapters/lora", parent="m"))
    assert reconcile(BACKEND, frozenset({"m", "lora"}), cards) == ()


def test_a_missing_name_is_told_with_what_is_there_instead() -> None:
    (drift,) = reconcile(BACKEND, frozenset({"m"}), (ModelCard("x"), ModelCard("y")))
    assert "'m'" in drift.message
    assert "'x', 'y'" in drift.message
    assert "routing file" in drift.message

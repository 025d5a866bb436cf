"""Whose requests an engine's figures count, with other gateways and without."""

import pytest

from gateway.fleet.figures import Figures
from gateway.fleet.health.evidence import Activity
from gateway.fleet.peers import PeerWork


def activity(running: float) -> Activity:
    return Activity(running, 0.0, 1000.0, 1000.0)


@pytest.mark.parametrize(
    ("peers", "own", "running", "strangers"),
    [(None, 2, 5, 3), (0, 2, 5, 3), (3, 2, 5, 0), (2, 2, 5, 1), (9, 2, 5, 0)],
    ids=["alone", "nobody else", "all known", "one unknown", "more than there are"],
)
def test_strangers(peers: int | None, own: int, running: int, strangers: int) -> None:
    figures = Figures(None, 1.0)
    figures.peers = None if peers is None else PeerWork(peers)
    for at_s in (0.0, 1.0):
        figures.take(activity(running), at_s, at_s, own)
    assert figures.strangers(1.0, 256) == strangers


def test_those_of_peers_do_not_count_twice_when_the_store_comes_back() -> None:
    """While it was gone their requests looked like those of strangers."""
    figures = Figures(None, 1.0)
    for at_s in (0.0, 1.0):
        figures.take(activity(5), at_s, at_s, 2)
    assert figures.strangers(1.0, 256) == 3
    figures.peers = PeerWork(3)
    assert figures.strangers(1.0, 256) == 0


def test_blind_is_who_has_neither() -> None:
    figures = Figures(None, 1.0)
    assert figures.is_blind(0.0)
    figures.take(activity(1), 0.0, 0.0, 1)
    assert not figures.is_blind(0.0)
    assert figures.is_blind(60.0)
    figures.peers = PeerWork()
    assert not figures.is_blind(60.0)

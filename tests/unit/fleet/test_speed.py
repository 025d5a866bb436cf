"""The speed watch: who runs at eager speed, and who only looks like it."""

import pytest

from gateway.config.backend import BackendConfig
from gateway.fleet.speed import SpeedBook, SpeedSample, judge

GRAPH_S, EAGER_S = 1 / 17, 1 / 5.8


def config(**fields: object) -> BackendConfig:
    given = {"name": "g", "url": "http://h:1", "served_name": "m", "chip": "310P", **fields}
    return BackendConfig.model_validate(given)


def book(*samples: tuple[float, int, int], sizes: tuple[int, ...] = (1, 4)) -> SpeedBook:
    made = SpeedBook(sizes)
    for tpot_s, least, most in samples:
        made.add(SpeedSample(tpot_s, least, most))
    return made


@pytest.mark.parametrize(
    ("samples", "is_slow"),
    [
        ([(GRAPH_S, 1, 1)] * 8, False),
        ([(GRAPH_S * 1.5, 1, 4)] * 8, False),
        ([(EAGER_S, 1, 1)] * 8, True),
        ([(EAGER_S, 1, 1)] * 5, False),  # too few to say
        ([(EAGER_S, 1, 1)] * 5 + [(GRAPH_S, 1, 1)] * 10, False),  # most of them count
        ([(EAGER_S, 5, 8)] * 8, True),  # off the grid
        ([(EAGER_S, 5, 8)] * 8 + [(GRAPH_S, 1, 2)] * 8, False),  # within the grid it is fast
        ([(EAGER_S, 5, 8)] * 5, False),
        ([(GRAPH_S, 5, 8)] * 8, False),
        ([(EAGER_S, 4, 5)] * 20, False),
        ([(EAGER_S, 1, 1)] * 24 + [(GRAPH_S, 1, 1)] * 13, False),  # what is old is forgotten
        ([(EAGER_S, 1, 1)] * 24 + [(GRAPH_S, 1, 1)] * 11, True),
        ([(EAGER_S, 1, 8)] * 20, False),  # partly within, partly above: it tells nothing
    ],
)
def test_samples(samples: list[tuple[float, int, int]], is_slow: bool) -> None:
    assert (judge(config(), book(*samples), None, was_slow=False) is not None) == is_slow


def test_the_cause_and_remedy_follow_where_it_is_slow() -> None:
    within = judge(config(), book(*[(EAGER_S, 1, 1)] * 8), None, was_slow=False)
    above = judge(config(), book(*[(EAGER_S, 6, 8)] * 8), None, was_slow=False)
    assert within is not None
    assert above is not None
    assert "enforce-eager" in within.reason
    assert "172 ms" in within.reason
    assert "max-num-seqs" in above.reason


def test_a_twin_is_a_measure_on_any_chip() -> None:
    fast = config(chip="A2")
    slow = book(*[(0.05, 1, 1)] * 8)
    assert judge(fast, slow, None, was_slow=False) is None
    assert judge(fast, slow, 0.05, was_slow=False) is not None
    assert judge(fast, slow, 0.5, was_slow=False) is None


def test_an_eager_backend_is_never_called_slow() -> None:
    slow = book(*[(1.0, 1, 1)] * 8)
    assert judge(config(tier="eager"), slow, 0.1, was_slow=False) is None


def test_it_does_not_flap_between_two_verdicts() -> None:
    between = book(*[((GRAPH_S * EAGER_S) ** 0.5 * 0.95, 1, 1)] * 8)
    assert judge(config(), between, None, was_slow=False) is None
    assert judge(config(), between, None, was_slow=True) is not None


def test_a_model_whose_graph_is_hardly_faster_is_left_alone() -> None:
    large = config(served_name="qwen3.5-27b")
    assert judge(large, book(*[(0.25, 1, 1)] * 8), None, was_slow=False) is None


def test_without_known_sizes_every_batch_is_within() -> None:
    made = book(*[(EAGER_S, 5, 200)] * 8, sizes=())
    assert (made.within_s, made.above_s) == (EAGER_S, None)
    assert judge(config(), made, None, was_slow=False) is not None


def test_a_restart_starts_anew() -> None:
    made = book(*[(EAGER_S, 1, 1)] * 8)
    made.forget()
    assert made.within_s is None
    assert repr(made) == "<SpeedBook 0 within, 0 above 4>"

"""What gateways tell each other: read as it was told, and nothing worse when it is garbage."""

import pytest

from gateway.config.backend import BackendConfig
from gateway.fleet.bulletin import (
    Waiting,
    best_lesson,
    bulletin_of,
    combined,
    read_bulletin,
    warning,
)
from gateway.fleet.health.evidence import RequestFailed
from gateway.fleet.learning.lengths import OutputLengths
from gateway.fleet.live import LiveBackend
from gateway.fleet.peers import PeerWork
from gateway.fleet.working import Working


def live(**fields: object) -> LiveBackend:
    config = BackendConfig.model_validate(
        {"name": "b", "url": "http://h:1/", "served_name": "m", "tier": "graph",
         "capture_sizes": [1, 4], "max_num_seqs": 4, **fields}
    )  # fmt: skip
    return LiveBackend(config, frozenset({"m"}), 0.0)


def test_what_is_told_is_what_is_read() -> None:
    backend = live()
    backend.in_flight = 1
    backend.work.begin(Working(100, 100, 50, OutputLengths()), 0.0)
    data = bulletin_of([backend], {"m": Waiting(3, 1.5)}, "v1", "", 1.0)
    told = read_bulletin(data)
    assert told is not None
    assert (told.config, told.waiting, told.running) == ("v1", {"m": (3, 1.5)}, 1)
    work = combined(backend.key, 2, [told, told])
    assert work.requests == 2
    assert work.streaming == 0
    assert work.left_tokens == pytest.approx(100.0)
    assert work.context_tokens == pytest.approx(200.0)
    assert combined("elsewhere", 0, [told]) == PeerWork()


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b"[9,1,2,3,4]", b"\xff", b'[2,"v","",{},{}]', b"[" * 100_000]
)
def test_what_cannot_be_read_is_passed_over(data: bytes) -> None:
    assert read_bulletin(data) is None


def test_only_what_was_seen_here_is_a_warning() -> None:
    backend = live()
    backend.warned = "gateway x found: it hangs"
    told = read_bulletin(bulletin_of([backend], {}, "v", "", 0.0))
    assert told is not None
    assert warning(backend.key, {"x": told}) == ""
    for at in range(20):
        backend.observe(RequestFailed("reset"), float(at) / 100)
    told = read_bulletin(bulletin_of([backend], {}, "v", "", 1.0))
    assert told is not None
    assert warning(backend.key, {"x": told}).startswith("gateway x found: ")


def test_the_lesson_of_whoever_saw_most_counts() -> None:
    backends = [live(), live(), live()]
    for tokens, step_s, backend in ((20, 0.2, backends[0]), (200, 0.1, backends[1])):
        for _ in range(tokens // 20):
            backend.work.decode.add(1, step_s, 20, 0.0)
    told = [read_bulletin(bulletin_of([backend], {}, "v", "", 0.0)) for backend in backends]
    step, prompt = best_lesson(backends[0].key, [one for one in told if one is not None])
    assert step is not None
    assert sum(step) == pytest.approx(0.1, rel=0.05)
    assert prompt is None
    fresh = live()
    fresh.work.decode.hear(step)
    assert fresh.work.decode.step_s(1) == pytest.approx(0.1, rel=0.05)
    fresh.work.decode.hear(None)
    assert fresh.work.decode.step_s(1) < 0.07

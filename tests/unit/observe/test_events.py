"""The ring of events."""

from gateway.fleet.live import Change
from gateway.observe.events import Events
from gateway.observe.logs import Log


class Lines:
    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def write(self, line: bytes) -> None:
        self.lines.append(line)

    def close(self) -> None: ...


def test_events_are_numbered_logged_and_bounded() -> None:
    lines = Lines()
    events = Events(Log(lines, lambda: 0.0), lambda: 12.3456, kept=3)
    for count in range(5):
        events.add("info", "retry", backend="a" if count % 2 else "b", model="m", wait_s=None)
    assert events.last_number == 5
    assert [e["number"] for e in events.since()] == [3, 4, 5]
    assert [e["number"] for e in events.since(4)] == [5]
    assert [e["number"] for e in events.since(backend="a")] == [4]
    assert events.since(kind="resume") == []
    assert events.since()[0] == {
        "number": 3,
        "at_s": 12.346,
        "kind": "retry",
        "backend": "b",
        "model": "m",
    }
    assert len(lines.lines) == 5
    assert repr(events) == "<Events 3 of 5>"


def test_changes_become_events_of_their_kind() -> None:
    lines = Lines()
    events = Events(Log(lines, lambda: 0.0), lambda: 0.0)
    events.changed(
        [
            Change("a", "state", "up", "down", "it hangs"),
            Change("a", "breaker", "closed", "open", "3 failed requests in a row"),
            Change("a", "drift", "", "other_root", "it runs x"),
            Change("a", "state", "down", "up", "generates"),
        ]
    )
    told = events.since()
    assert [e["kind"] for e in told] == [
        "backend_state",
        "backend_breaker",
        "backend_drift",
        "backend_state",
    ]
    assert "before" not in told[2]
    assert [b'"warning"' in line for line in lines.lines] == [True, True, True, False]

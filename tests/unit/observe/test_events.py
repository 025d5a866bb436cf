"""The ring of events."""

import json

import pytest

from gateway.fleet.change import Change
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


def filled(kept: int) -> Events:
    events = Events(Log(Lines(), lambda: 0.0), lambda: 0.0, kept=kept)
    for kind, backend in (("retry", "a"), ("resume", "b"), ("retry", "b"), ("gone", None)):
        events.add("info", kind, backend=backend)
    return events


@pytest.mark.parametrize(
    ("number", "backend", "kind", "found"),
    [
        (0, None, None, [1, 2, 3, 4]),
        (-1, None, None, [1, 2, 3, 4]),
        (2, None, None, [3, 4]),
        (4, None, None, []),
        (99, None, None, []),
        (0, "b", None, [2, 3]),
        (2, "b", None, [3]),
        (0, None, "retry", [1, 3]),
        (0, "b", "retry", [3]),
        (0, "a", "resume", []),
        (0, "c", None, []),
        (0, "", None, []),
    ],
)
def test_filters(number: int, backend: str | None, kind: str | None, found: list[int]) -> None:
    told = filled(kept=10).since(number, backend=backend, kind=kind)
    assert [event["number"] for event in told] == found


@pytest.mark.parametrize(
    ("kept", "found"), [(1, [4]), (3, [2, 3, 4]), (4, [1, 2, 3, 4]), (5, [1, 2, 3, 4])]
)
def test_the_oldest_go_first_and_numbers_go_on(kept: int, found: list[int]) -> None:
    events = filled(kept)
    assert [event["number"] for event in events.since()] == found
    assert events.last_number == 4


def test_nothing_has_happened_yet() -> None:
    events = Events(Log(Lines(), lambda: 0.0), lambda: 0.0)
    assert (events.since(), events.last_number, repr(events)) == ([], 0, "<Events 0 of 0>")
    events.changed(())
    assert events.last_number == 0


@pytest.mark.parametrize(
    ("what", "after", "level"),
    [
        ("state", "down", "warning"),
        ("state", "degraded", "warning"),
        ("state", "up", "info"),
        ("state", "starting", "info"),
        ("state", "draining", "info"),
        ("breaker", "open", "warning"),
        ("breaker", "closed", "info"),
        ("drift", "name_missing", "warning"),
    ],
)
def test_how_loud_a_change_is(what: str, after: str, level: str) -> None:
    lines = Lines()
    events = Events(Log(lines, lambda: 0.0), lambda: 0.0)
    events.changed([Change("a", what, "before", after, "why")])
    (line,) = map(json.loads, lines.lines)
    assert (line["event"], line["level"]) == (f"backend_{what}", level)
    assert (line["backend"], line["after"], line["reason"]) == ("a", after, "why")

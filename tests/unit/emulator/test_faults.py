"""Faults: their JSON form, and which request one strikes."""

import json
from typing import Any

import pytest

from gateway.emulator.faults import (
    BEFORE_FAULTS,
    STREAM_FAULTS,
    Fault,
    FaultBoard,
    FaultKind,
    fault_json,
    parse_fault,
)

CHAT = "/v1/chat/completions"


@pytest.mark.parametrize("kind", FaultKind)
def test_every_kind_is_known_by_its_name(kind: FaultKind) -> None:
    assert parse_fault({"kind": kind.value}) == Fault(kind)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (
            {"kind": "cut_rst", "after_events": 3},
            Fault(FaultKind.CUT_RST, after_events=3),
        ),
        (
            {"kind": "status_429", "count": 2, "retry_after_s": 1.5, "paths": [CHAT]},
            Fault(FaultKind.STATUS_429, count=2, retry_after_s=1.5, paths=(CHAT,)),
        ),
        (
            {"kind": "engine_dead", "delay_s": 0, "restart_after_s": 3},
            Fault(FaultKind.ENGINE_DEAD, delay_s=0, restart_after_s=3),
        ),
        ({"kind": "wrong_name", "name": "other"}, Fault(FaultKind.WRONG_NAME, name="other")),
    ],
)
def test_faults_from_json_and_back(value: dict[str, Any], fault: Fault) -> None:
    assert parse_fault(value) == fault
    assert parse_fault(json.loads(json.dumps(fault_json(fault)))) == fault


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({}, "unknown fault kind None; use one of crash_at_first_inference, "),
        ({"kind": "no such"}, "unknown fault kind 'no such'"),
        ({"kind": ["hang"]}, "unknown fault kind"),
        ({"kind": "hang", "after": 1}, "unknown fault fields ['after']"),
        ([], "a fault is an object"),
        ("hang", "a fault is an object"),
        ({"kind": "hang", "after_events": -1}, "after_events must be a whole number from 0 up"),
        ({"kind": "hang", "after_events": "3"}, "after_events must be a whole number"),
        ({"kind": "hang", "after_events": True}, "after_events must be a whole number"),
        ({"kind": "hang", "count": 0}, "count must be a whole number from 1 up"),
        ({"kind": "hang", "count": 1.5}, "count must be a whole number"),
        ({"kind": "hang", "paths": CHAT}, "paths must be a list of strings"),
        ({"kind": "hang", "paths": [1]}, "paths must be a list of strings"),
        ({"kind": "hang", "paths": None}, "paths must be a list of strings"),
        ({"kind": "hang", "delay_s": -0.1}, "delay_s must be a number of seconds"),
        ({"kind": "hang", "delay_s": None}, "delay_s must be a number of seconds"),
        ({"kind": "hang", "retry_after_s": "soon"}, "retry_after_s must be a number of seconds"),
        ({"kind": "hang", "restart_after_s": float("nan")}, "restart_after_s must be a number"),
        ({"kind": "hang", "name": ""}, "name must be a model id"),
    ],
)
def test_wrong_faults_are_explained(value: Any, told: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_fault(value)
    assert told in str(caught.value)


def test_faults_in_an_answer_and_in_place_of_one_are_different() -> None:
    assert not STREAM_FAULTS & BEFORE_FAULTS


@pytest.mark.parametrize(
    ("paths", "path", "inference", "strikes"),
    [
        ((), CHAT, True, True),
        ((), "/v1/models", False, False),  # without paths only what runs the model
        ((CHAT,), CHAT, True, True),
        ((CHAT,), "/v1/completions", True, False),
        (("/health", "/metrics"), "/metrics", False, True),
    ],
)
def test_whom_a_fault_strikes(
    paths: tuple[str, ...], path: str, inference: bool, strikes: bool
) -> None:
    board = FaultBoard()
    fault = Fault(FaultKind.RESET, paths=paths)
    board.set(fault)
    found = board.find(BEFORE_FAULTS, path, inference=inference)
    assert found == (fault if strikes else None)
    assert board.find(STREAM_FAULTS, path, inference=inference) is None


def test_a_count_goes_down_with_every_strike_and_not_with_a_look() -> None:
    board = FaultBoard()
    board.set(Fault(FaultKind.STATUS_500, count=2))
    assert board.find(BEFORE_FAULTS, CHAT, inference=True) is not None
    counts = []
    for _ in range(3):
        struck = board.strike(BEFORE_FAULTS, CHAT, inference=True)
        counts.append(struck.count if struck else None)
    assert counts == [2, 1, None]
    assert board.all() == ()


def test_a_fault_without_count_stays_until_it_is_cleared() -> None:
    board = FaultBoard()
    board.set(Fault(FaultKind.SILENCE))
    assert all(board.strike(BEFORE_FAULTS, CHAT, inference=True) for _ in range(50))
    board.clear()
    assert board.strike(BEFORE_FAULTS, CHAT, inference=True) is None


def test_a_fault_replaces_its_like_and_stands_beside_others() -> None:
    board = FaultBoard()
    board.set(Fault(FaultKind.STATUS_503, count=1))
    board.set(Fault(FaultKind.STATUS_503, count=5))
    board.set(Fault(FaultKind.STATUS_503, paths=(CHAT,)))
    board.set(Fault(FaultKind.CUT_FIN))
    assert [(f.kind, f.count, f.paths) for f in board.all()] == [
        (FaultKind.STATUS_503, 5, ()),
        (FaultKind.STATUS_503, None, (CHAT,)),
        (FaultKind.CUT_FIN, None, ()),
    ]

"""A trail as plain values: who was considered, and why the winner won."""

import json
from typing import Any

import pytest

from gateway.fleet.view import ModelView, Standing
from gateway.observe.explain import KEPT_FOR_OTHER, LAST_RESORT, explain
from gateway.observe.trails import Trails
from gateway.placement.eligible import Need
from gateway.placement.rule import Choice
from gateway.placement.want import Placed
from tests.unit.observe.placements import (
    DOWN,
    EAGER,
    A,
    B,
    backend,
    nobody,
    option,
    placed,
    price,
    want,
    whole_story,
)


def decision_of(one: Placed) -> dict[str, Any]:
    trail = Trails().begin("r", "m", None, 100.0, 0.0)
    trail.decided(one, 101.0)
    (decision,) = explain(trail)["decisions"]
    return decision


def verdict(one: Placed) -> tuple[str, str | None]:
    decided = decision_of(one)["decided_by"]
    return decided["by"], decided["against"]


def test_a_whole_story() -> None:
    told = explain(whole_story(Trails()))
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert {key: told[key] for key in told if key not in ("decisions", "waits", "attempts")} == {
        "request_id": "req-1",
        "asked": "qwen-27b",
        "model": "qwen3.5-27b",
        "caller": "app",
        "began_at_s": 1_764_741_044.25,
        "is_running": False,
        "took_s": 50.1,
        "status": 200,
        "code": None,
        "error": None,
        "waited_s": 2.1,
        "position": 3,
        "expected_wait_s": 2.0,
        "decisions_total": 2,
        "attempts_total": 2,
    }
    assert told["waits"] == [
        {
            "after_s": 0.0,
            "waited_s": 2.1,
            "is_over": True,
            "position": 3,
            "expected_wait_s": 2.0,
            "full": [
                {"backend": "27b-a", "running": 4, "cap": 4},
                {"backend": "27b-b", "running": 4, "cap": 4},
            ],
            "with_room": [{"backend": "27b-e", "running": 0, "cap": 4}],
        }
    ]
    assert told["attempts"][0] == {
        "backend": "27b-a",
        "model": "qwen3.5-27b",
        "after_s": 2.1,
        "took_s": 1.5,
        "outcome": "cut",
        "detail": "the connection ended after 3 events.",
    }


def test_every_backend_with_its_cost_or_its_refusal() -> None:
    decision = decision_of(placed())
    a, b, down, eager = decision["backends"]
    assert a["seconds"] == {
        "total": 31.0,
        "own": 28.0,
        "prompt": 1.0,
        "answer": 27.0,
        "others": 3.0,
        "wait": 0.0,
        "scarcity": 0.0,
        "risk": 0.0,
    }
    assert (a["in_flight"], a["cap"], a["standing"], a["tier"]) == (2, 4, "ready", "graph")
    assert (a["uncached_tokens"], a["prompt_tokens"], a["is_free"]) == (500.0, 4000, True)
    assert [one["cost_s"] for one in (a, b, eager)] == [31.0, 54.0, 48.0]
    assert down["refused"] == {"why": "down", "detail": "it refuses connections"}
    assert (down["seconds"], down["is_free"], down["penalty_s"]) == (None, None, None)
    assert {frozenset(one) for one in decision["backends"]} == {frozenset(a)}
    assert (decision["chosen"], decision["waiting"], decision["after_s"]) == ("27b-a", None, 1.0)


def test_when_nobody_could_take_it() -> None:
    decision = decision_of(nobody(need=Need(50_000)))
    assert (decision["chosen"], decision["decided_by"]) == (None, None)
    assert [one["refused"]["why"] for one in decision["backends"]] == ["tried", "down"]
    assert (decision["tried"], decision["needed_context_tokens"]) == (["27b-a"], 50_000)


@pytest.mark.parametrize(
    ("standing", "why"),
    [(Standing.READY, KEPT_FOR_OTHER), (Standing.LAST_RESORT, LAST_RESORT)],
)
def test_who_could_serve_it_and_was_no_option(standing: Standing, why: str) -> None:
    view = ModelView("m", (A, backend("27b-b", standing=standing)))
    decision = decision_of(placed(0, (price(1.0),), (option(A),), view))
    assert [one["refused"] and one["refused"]["why"] for one in decision["backends"]] == [None, why]


HEAVY = backend("heavy", weight=4.0)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (placed(), ("answer", "27b-e")),
        (placed(0, (price(9.0),), (option(A),)), ("only_one", None)),
        (placed(0, ()), ("rule", None)),
        (placed(0, (price(9.0), price(9.0)), (option(A), option(B))), ("draw", "27b-b")),
        (placed(1, (price(9.0), price(10.0)), (option(A), option(B))), ("rule", "27b-a")),
        (
            placed(1, (price(9.0, others=20.0), price(10.0)), (option(A), option(B))),
            ("others", "27b-a"),
        ),
        (placed(0, (price(9.0), price(9.0, wait=5.0)), (option(A), option(B))), ("wait", "27b-b")),
        (placed(0, (price(9.0), price(9.0, risk=5.0)), (option(A), option(B))), ("risk", "27b-b")),
        (
            placed(0, (price(9.0), price(8.0)), (option(A), option(B, penalty_s=30.0))),
            ("penalty", "27b-b"),
        ),
        # The prompt is cached at one of them.
        (
            placed(0, (price(9.0), price(12.0)), (option(A, 500.0), option(B, 4000.0))),
            ("prompt", "27b-b"),
        ),
        # Without its weight the heavy one would have lost.
        (placed(0, (price(12.0), price(9.0)), (option(HEAVY), option(A))), ("weight", "27b-a")),
    ],
)
def test_what_made_the_difference(one: Placed, expected: tuple[str, str | None]) -> None:
    assert verdict(one) == expected


def test_the_seconds_of_the_difference() -> None:
    decided = decision_of(placed())["decided_by"]
    assert decided == {
        "by": "answer",
        "against": "27b-e",
        "cost_s": 31.0,
        "against_cost_s": 48.0,
        "seconds": 27.0,
        "against_seconds": 47.0,
    }


def test_the_reason_of_a_rule_without_prices() -> None:
    decision = decision_of(placed(2, (), reason="load of its cap: 0.25"))
    assert decision["rule_reason"] == "load of its cap: 0.25"
    assert all(one["seconds"] is None for one in decision["backends"])
    assert decision["backends"][0]["uncached_tokens"] == 500.0


def test_what_never_waits_has_no_cap() -> None:
    unbounded = option(A)._replace(cap=1_000_000_000)
    assert decision_of(placed(0, (), (unbounded,)))["backends"][0]["cap"] is None


def test_figures_that_json_does_not_have() -> None:
    found = placed(0, (price(float("inf")), price(float("nan"))), (option(A), option(B)))
    assert json.dumps(decision_of(found), allow_nan=False)


def test_a_request_that_still_waits() -> None:
    trail = Trails().begin("r", None, None, 100.0, 0.0)
    trail.joined(2, None, 101.0)
    told = explain(trail, 107.0)
    assert (told["is_running"], told["status"], told["took_s"]) == (True, None, 7.0)
    assert (told["waited_s"], told["position"], told["expected_wait_s"]) == (6.0, 2, None)
    assert told["waits"][0]["is_over"] is False
    assert explain(trail)["took_s"] == 1.0


def test_an_attempt_under_way() -> None:
    trail = Trails().begin("r", "m", None, 100.0, 0.0)
    trail.attempted("a", "m", 101.0)
    (attempt,) = explain(trail, 103.0)["attempts"]
    assert (attempt["outcome"], attempt["took_s"]) == (None, 2.0)


def test_text_of_clients_that_no_answer_can_carry() -> None:
    trail = Trails().begin("r", "m\ud800", None, 100.0, 0.0)
    trail.finished(404, "model_not_found", "no 'm\ud800'", 101.0)
    told = explain(trail)
    assert (told["asked"], told["error"]) == ("m?", "no 'm?'")


def test_the_choice_may_be_another_rules() -> None:
    choice = Choice(1, True, (), "places until its turn: 0")
    one = Placed(want(), EAGER, ModelView("m", (A, DOWN, EAGER)), (), (option(A), option(EAGER)))
    assert verdict(one._replace(choice=choice)) == ("rule", None)

"""A trail as plain values for JSON: who was considered, at what cost, and why the winner won."""

import math
from collections.abc import Sequence
from typing import Any, Final

from gateway.fleet.view import BackendView, Standing
from gateway.observe.trails import Attempt, Decision, Trail, Wait
from gateway.placement.cost import Price
from gateway.placement.eligible import Refused, refusals
from gateway.placement.room import cap_now
from gateway.placement.rule import Choice, Option

KEPT_FOR_OTHER: Final = "kept_for_other"
"""Why a backend that could serve a request was no option: one that waits longer comes first."""

LAST_RESORT: Final = "last_resort"
"""Why a backend was no option: it is asked only when nothing better is left."""

_EQUAL_S: Final = 1e-9
# What never waits is placed as if there were no cap.
_NO_CAP: Final = 1_000_000


def explain(trail: Trail, now: float | None = None) -> dict[str, Any]:
    """All that is known of a request; `now` is monotonic, to tell how long a running one takes."""
    end_s = _end_s(trail, now)
    first = trail.waits[0] if trail.waits else None
    return {
        "request_id": trail.request_id,
        "asked": _clean(trail.asked),
        "model": trail.model,
        "caller": trail.caller,
        "began_at_s": round(trail.began_wall_s, 3),
        "is_running": trail.finished_s is None,
        "took_s": _rounded(end_s - trail.began_s),
        "status": None if trail.finished_s is None else trail.status,
        "code": trail.code,
        "error": _clean(trail.error),
        "waited_s": _rounded(trail.waited_s(end_s)),
        "position": None if first is None else first.position,
        "expected_wait_s": None if first is None else _rounded(first.expected_wait_s),
        "waits": [_wait(wait, trail.began_s, end_s) for wait in trail.waits],
        "decisions_total": trail.decisions_total,
        "decisions": [_decision(decision, trail.began_s) for decision in trail.decisions],
        "attempts_total": trail.attempts_total,
        "attempts": [_attempt(attempt, trail.began_s, end_s) for attempt in trail.attempts],
    }


def _end_s(trail: Trail, now: float | None) -> float:
    """When it ended, else now, else the last moment that is known."""
    if trail.finished_s is not None:
        return trail.finished_s
    if now is not None:
        return now
    moments = [trail.began_s]
    moments += [wait.joined_s if wait.left_s is None else wait.left_s for wait in trail.waits]
    moments += [decision.at_s for decision in trail.decisions]
    moments += [a.began_s if a.ended_s is None else a.ended_s for a in trail.attempts]
    return max(moments)


def _wait(wait: Wait, began_s: float, end_s: float) -> dict[str, Any]:
    full: list[dict[str, Any]] = []
    with_room: list[dict[str, Any]] = []
    for backend in () if wait.view is None else wait.view.backends:
        if backend.standing is Standing.OUT or backend.facts.is_missing:
            continue
        cap, running = cap_now(backend), backend.load.running
        seen = {"backend": backend.facts.name, "running": running, "cap": cap}
        (full if running >= cap else with_room).append(seen)
    return {
        "after_s": _rounded(wait.joined_s - began_s),
        "waited_s": _rounded((end_s if wait.left_s is None else wait.left_s) - wait.joined_s),
        "is_over": wait.left_s is not None,
        "position": wait.position,
        "expected_wait_s": _rounded(wait.expected_wait_s),
        "full": full,
        "with_room": with_room,
    }


def _attempt(attempt: Attempt, began_s: float, end_s: float) -> dict[str, Any]:
    ended_s = end_s if attempt.ended_s is None else attempt.ended_s
    return {
        "backend": attempt.backend,
        "model": attempt.model,
        "after_s": _rounded(attempt.began_s - began_s),
        "took_s": _rounded(ended_s - attempt.began_s),
        "outcome": attempt.outcome,
        "detail": _clean(attempt.detail),
    }


def _decision(decision: Decision, began_s: float) -> dict[str, Any]:
    choice, options = decision.choice, decision.options
    prices = () if choice is None else choice.prices
    places = {option.backend.facts.name: index for index, option in enumerate(options)}
    refused = {r.backend: r for r in refusals(decision.view, decision.need, decision.tried)}
    backends = []
    for backend in decision.view.backends:
        name = backend.facts.name
        index = places.get(name)
        if index is None:
            backends.append(_left_out(backend, refused.get(name)))
        else:
            backends.append(_considered(options[index], prices[index] if prices else None))
    return {
        "after_s": _rounded(decision.at_s - began_s),
        "model": decision.view.model,
        "waiting": decision.waiting,
        "chosen": decision.backend,
        "rule_reason": None if choice is None or not choice.reason else choice.reason,
        "decided_by": None if choice is None else _decided_by(choice, options),
        "needed_context_tokens": decision.need.context_tokens,
        "tried": list(decision.tried),
        "backends": backends,
    }


def _left_out(backend: BackendView, refused: Refused | None) -> dict[str, Any]:
    if refused is not None:
        why, detail = refused.why.value, refused.detail
    elif backend.standing is Standing.LAST_RESORT:
        why, detail = LAST_RESORT, "it is asked only when nothing better is left"
    else:
        why, detail = KEPT_FOR_OTHER, "it is kept for a request that has waited longer"
    told = _seen(backend, backend.load.running, cap_now(backend))
    return {**told, "refused": {"why": why, "detail": detail}}


def _considered(option: Option, price: Price | None) -> dict[str, Any]:
    told = _seen(option.backend, option.running, option.cap)
    told["reserved"] = option.reserved
    told["uncached_tokens"] = _rounded(option.ask.uncached_tokens)
    told["prompt_tokens"] = option.ask.prompt_tokens
    told["output_tokens"] = _rounded(option.ask.output_tokens)
    told["penalty_s"] = _rounded(option.penalty_s)
    if price is not None:
        told["is_free"] = price.is_free
        told["is_memory_full"] = price.is_memory_full
        told["cost_s"] = _rounded(_cost_s(option, price))
        told["seconds"] = {
            "total": _rounded(price.total_s),
            "own": _rounded(price.own_s),
            **{name: _rounded(s) for name, s in _terms(option, price).items() if name != "penalty"},
        }
    return told


def _seen(backend: BackendView, running: int, cap: int) -> dict[str, Any]:
    """What is told of every backend; what only considered ones have is None."""
    return {
        "backend": backend.facts.name,
        "tier": backend.facts.tier.value,
        "weight": backend.facts.weight,
        "in_flight": backend.in_flight,
        "running": running,
        "cap": cap if cap < _NO_CAP else None,
        "standing": backend.standing.name.lower(),
        "refused": None,
        "reserved": 0,
        "cost_s": None,
        "seconds": None,
        "is_free": None,
        "is_memory_full": None,
        "prompt_tokens": None,
        "uncached_tokens": None,
        "output_tokens": None,
        "penalty_s": None,
    }


def _terms(option: Option, price: Price) -> dict[str, float]:
    """The terms of the cost in seconds; its own time in two parts, prompt and answer."""
    speed = option.backend.speed
    prompt_s = min(price.own_s, speed.fix_s + option.ask.uncached_tokens * speed.token_s)
    return {
        "prompt": prompt_s,
        "answer": price.own_s - prompt_s,
        "others": price.others_s,
        "wait": price.wait_s,
        "scarcity": price.scarcity_s,
        "risk": price.risk_s,
        "penalty": option.penalty_s,
    }


def _cost_s(option: Option, price: Price) -> float:
    """What the rule compared."""
    return price.total_s / option.backend.facts.weight + option.penalty_s


def _decided_by(choice: Choice, options: Sequence[Option]) -> dict[str, Any]:
    """What made the winner win against the next best.

    `by` is `only_one`, `rule` (see the rule's reason), `draw`, `weight`, or the name of the term
    that made the largest difference.
    """
    prices, chosen = choice.prices, choice.chosen
    if len(options) == 1:
        return _verdict("only_one")
    if not prices:
        return _verdict("rule")
    costs = [_cost_s(option, price) for option, price in zip(options, prices, strict=True)]
    second = min((index for index in range(len(costs)) if index != chosen), key=costs.__getitem__)
    against = options[second].backend.facts.name
    pair = (costs[chosen], costs[second])
    if pair[1] < pair[0] - _EQUAL_S:
        return _verdict("rule", against, pair)
    if pair[1] - pair[0] <= _EQUAL_S:
        return _verdict("draw", against, pair)
    here, there = (_terms(options[index], prices[index]) for index in (chosen, second))
    if sum(here.values()) >= sum(there.values()):
        return _verdict("weight", against, pair)
    term = max(here, key=lambda name: there[name] - here[name])
    return _verdict(term, against, pair, (here[term], there[term]))


def _verdict(
    by: str,
    against: str | None = None,
    costs_s: tuple[float, float] | None = None,
    seconds: tuple[float, float] | None = None,
) -> dict[str, Any]:
    here_s, there_s = seconds or (None, None)
    cost_s, against_cost_s = costs_s or (None, None)
    return {
        "by": by,
        "against": against,
        "cost_s": _rounded(cost_s),
        "against_cost_s": _rounded(against_cost_s),
        "seconds": _rounded(here_s),
        "against_seconds": _rounded(there_s),
    }


def _rounded(value: float | None) -> float | None:
    """Milliseconds will do; JSON has no infinity."""
    return None if value is None or not math.isfinite(value) else round(value, 3)


def _clean(text: str | None) -> str | None:
    """The text without lone surrogates, which a client may send and no answer can carry."""
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")

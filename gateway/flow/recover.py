"""After a failed attempt: what the next one is, or what the client is told instead."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.config.vocabulary import OnFirstByteLimit
from gateway.errors import Outcome, Phase, Refusal
from gateway.fleet.names import Model
from gateway.fleet.registry import Registry
from gateway.fleet.view import Standing
from gateway.flow.answer import Failed, WholeAnswer
from gateway.flow.budgets import Budgets
from gateway.flow.call import Call
from gateway.flow.course import Course, Resumption
from gateway.flow.no_place import NothingLeft
from gateway.placement.eligible import Why, is_eligible
from gateway.recovery.classify import Failure, Kind
from gateway.recovery.plan import Move, Situation, Step, of_failure, plan, surrender
from gateway.recovery.resume import ways


def next_step(
    call: Call,
    course: Course,
    failed: Failed,
    fleet: Registry,
    budgets: Budgets,
    now: float,
    draw: float,
) -> Step:
    """What follows the attempt that failed last; the course is set for it.

    A failure that the client may not notice leads to another attempt; any other one raises
    `Refusal`, or leaves the answer to hand on in `course.passed_on`.
    """
    assert call.model is not None
    failure = failed.failure
    course.forget_moved(fleet.backends)
    if course.has_told:
        return _resume(call, course, failure, budgets, now)
    if failure.kind not in _NO_SECOND_ROUND:
        _begin_second_round(call, course, fleet, now)
    step = plan(failure, _situation(call, course, failure, fleet, budgets, now, draw))
    match step.move:
        case Move.AGAIN:
            course.again = course.last
        case Move.LONGER:
            course.least_context_tokens = 1 + _context_of_last(course)
        case Move.ELSEWHERE if failure.phase is Phase.FIRST_BYTE:
            course.limit_moves += 1
        case Move.PASS_ON if failed.answer is not None:
            course.passed_on = failed.answer
        case Move.GIVE_UP if failure.kind is not Kind.LIMIT:
            course.passed_on = own_answer(course)
            if course.passed_on is None:
                raise surrender(call.model.name, course.failures, (), len(course.tried))
        case Move.PASS_ON | Move.GIVE_UP:
            raise of_failure(call.model.name, failure)
    if step.move not in (Move.PASS_ON, Move.GIVE_UP) and failure.may_have_run:
        budgets.spend(call.model.name, now)
    return step


# They would be refused again, or must not be asked twice; and who is full has said so.
_NO_SECOND_ROUND: Final = frozenset(
    {
        Kind.CLIENT_ERROR,
        Kind.CONTEXT_TOO_LONG,
        Kind.LIMIT,
        Kind.RATE_LIMITED,
        Kind.UNAVAILABLE,
    }
)


def when_nothing_is_left(call: Call, course: Course, end: NothingLeft) -> WholeAnswer:
    """A backend's own error answer, if there is one; else raises `Refusal`."""
    assert call.model is not None
    if course.resumption is not None:
        raise of_failure(course.resumption.model.name, course.resumption.first)
    answer = own_answer(course)
    if answer is not None:
        return answer
    if not course.failures:
        refusal = _never(call.model.name, end)
        if refusal is not None:
            raise refusal
    reasons = [f"{r.backend}: {r.detail}" for r in end.refused if r.why is not Why.TRIED]
    raise surrender(call.model.name, course.failures, reasons, end.backends_total)


def _never(model: str, end: NothingLeft) -> Refusal | None:
    """The refusal for what no backend of the model takes, now or later; None if one may."""
    whys = {refused.why for refused in end.refused}
    outcomes = [outcome for why, outcome in _NEVER.items() if why in whys]
    if not outcomes or not whys <= _NEVER.keys():
        return None
    reasons = "; ".join(f"{r.backend}: {r.detail}" for r in end.refused)
    return Refusal(
        outcomes[0], f"No backend of '{model}' takes this request ({reasons}). Change the request."
    )


_NEVER: Final[Mapping[Why, Outcome]] = MappingProxyType(
    {
        Why.NOT_PERMITTED: Outcome.MODEL_NOT_PERMITTED,
        Why.MODALITY: Outcome.MODALITY_UNSUPPORTED,
        Why.TIER: Outcome.HEADER_INVALID,
        Why.CONTEXT_TOO_SHORT: Outcome.CONTEXT_TOO_LONG,
    }
)


def own_answer(course: Course) -> WholeAnswer | None:
    """What a backend itself said of the failure: the first one that is more than "not now"."""
    answers = [f for f in course.failed if f.answer is not None]
    for failed in answers:
        if failed.failure.kind not in (Kind.UNAVAILABLE, Kind.RATE_LIMITED):
            return failed.answer
    return answers[0].answer if answers else None


def _situation(
    call: Call,
    course: Course,
    failure: Failure,
    fleet: Registry,
    budgets: Budgets,
    now: float,
    draw: float,
) -> Situation:
    assert call.model is not None
    model, rules = fleet.current(call.model), fleet.config.recovery
    fallbacks = fleet.fallbacks(model)
    served = fleet.current(call.served_model or model)
    has_other = _could_take(served, fleet, course, now)
    others = [m for m in (model, *fallbacks) if m.name != served.name]
    has_longer = False
    if failure.kind is Kind.CONTEXT_TOO_LONG:
        least = 1 + _context_of_last(course)
        has_longer = any(_could_take(m, fleet, course, now, least) for m in (model, *fallbacks))
    is_moving = model.config.on_first_byte_limit is OnFirstByteLimit.MOVE
    return Situation(
        attempts=call.attempts,
        again=course.again_count,
        has_other=has_other,
        has_fallback=any(_could_take(m, fleet, course, now) for m in others),
        has_longer=has_longer,
        left_s=call.total_left_s(now),
        max_attempts=rules.max_attempts,
        max_wait_s=rules.max_wait_s,
        may_move_on_limit=is_moving and course.limit_moves < 1,
        has_budget=budgets.has_left(model.name, now),
        draw=draw,
    )


def _could_take(
    model: Model, fleet: Registry, course: Course, now: float, least_tokens: int = 0
) -> bool:
    """Whether an untried backend of the model could take the request, if it is that long."""
    context_tokens = max(least_tokens, course.need.context_tokens)
    need = course.need._replace(context_tokens=context_tokens)
    view = fleet.view(model, now)
    return any(is_eligible(backend, need, course.tried) for backend in view.backends)


def _begin_second_round(call: Call, course: Course, fleet: Registry, now: float) -> None:
    """Once all were tried, those that have proved well since may be asked again, once."""
    assert call.model is not None
    assert course.last_live is not None
    if course.has_second_round:
        return
    last = course.last_live.config.name
    seen = fleet.view(fleet.current(call.model), now).backends
    if any(b.standing is not Standing.OUT and b.facts.name not in course.tried for b in seen):
        return
    if any(b.standing is Standing.READY and b.facts.name != last for b in seen):
        course.has_second_round = True
        course.forget_all_but_last()


def _context_of_last(course: Course) -> int:
    assert course.last is not None
    return course.last[1].max_model_len or 0


def _resume(call: Call, course: Course, failure: Failure, budgets: Budgets, now: float) -> Step:
    """The client has a part of the answer: only the rest of the same answer will do."""
    assert call.model is not None
    payload, transcript = call.payload, course.transcript
    served = call.served_model or call.model
    resumption = course.resumption
    if resumption is not None and course.is_way_refused:
        # The backend is well, but does not take this way: the next one, there.
        resumption.ways = resumption.ways[1:]
        if resumption.ways:
            course.again = course.last
            return Step(Move.AGAIN, 0.0, f"it may take the way '{resumption.way}'")
        raise of_failure(served.name, resumption.first)
    first = failure if resumption is None else resumption.first
    if transcript is None or payload is None or call.total_left_s(now) <= 0:
        raise of_failure(served.name, first)
    transcript.forget_unsaid()
    possible = ways(payload, call.endpoint.protocol, served.config.resume, transcript)
    rules = budgets.rules
    if not possible or call.attempts >= rules.max_attempts or not budgets.spend(served.name, now):
        raise of_failure(served.name, first)
    course.resumption = Resumption(first, served, transcript, possible)
    # One that failed before this stream began may be well again.
    course.forget_all_but_last()
    return Step(Move.ELSEWHERE, 0.0, f"the stream goes on by '{possible[0]}'")

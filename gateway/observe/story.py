"""An explanation as a text for people: what happened in short sentences, then the tables."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from gateway.observe import story_words as words
from gateway.observe.story_table import table
from gateway.observe.story_words import Voice, figure
from gateway.observe.trails import ANSWERED, FIRST, INTERRUPTED
from gateway.words import Language

Facts = Mapping[str, Any]


def as_text(explanation: Facts, language: Language) -> str:
    """What `explain` found, told in one language; no line end at the end."""
    voice = Voice(language)
    parts = ["\n".join(_sentences(voice, explanation))]
    decisions, total = explanation["decisions"], explanation["decisions_total"]
    gap = total - len(decisions)
    for index, decision in enumerate(decisions):
        number = index + 1 if index < FIRST else index + 1 + gap
        parts.append(table(voice, decision, number, total))
    return "\n\n".join(parts)


def _sentences(voice: Voice, facts: Facts) -> list[str]:
    """What happened in the order of time, the end last."""
    happened: list[tuple[float, int, str]] = []
    happened += [(w["after_s"], 0, _wait(voice, w)) for w in facts["waits"]]
    happened += [(d["after_s"], 1, _decision(voice, d)) for d in facts["decisions"]]
    happened += [(a["after_s"], 2, _attempt(voice, a)) for a in facts["attempts"]]
    happened.sort(key=lambda one: one[:2])
    return [_opening(voice, facts), *(text for _, _, text in happened), _ending(voice, facts)]


def _opening(voice: Voice, facts: Facts) -> str:
    time = datetime.fromtimestamp(facts["began_at_s"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    model, asked, caller = facts["model"], facts["asked"], facts["caller"]
    return voice.say(
        words.OPENING,
        id=facts["request_id"],
        asked=voice.say(words.NO_NAME) if asked is None else voice.say(words.NAMED, asked=asked),
        model="" if model in (None, asked) else voice.say(words.AS_MODEL, model=model),
        caller="" if caller is None else voice.say(words.BY_CALLER, caller=caller),
        time=time,
    )


def _ending(voice: Voice, facts: Facts) -> str:
    took = voice.seconds(facts["took_s"])
    if facts["is_running"]:
        return voice.say(words.RUNNING, took=took)
    status, code, error = facts["status"], facts["code"], facts["error"]
    if code is not None:
        status = f"{status} {code}"
    if not error:
        return voice.say(words.ENDED, status=status, took=took)
    return voice.say(words.ENDED_BADLY, status=status, took=took, error=error)


def _wait(voice: Voice, wait: Facts) -> str:
    expected = since = ""
    if wait["expected_wait_s"] is not None:
        expected = voice.say(words.EXPECTED, expected=voice.seconds(wait["expected_wait_s"]))
    if wait["full"]:
        full = (
            b["backend"] + voice.in_brackets(f"{b['running']}/{b['cap']}") for b in wait["full"]
        )
        since = voice.say(words.SINCE_FULL, full=voice.listed(full))
    if wait["with_room"]:
        names = voice.listed(b["backend"] for b in wait["with_room"])
        since += voice.say(words.ROOM_HELD if wait["full"] else words.ROOM_ONLY, names=names)
    return voice.say(
        words.WAITED if wait["is_over"] else words.WAITS,
        waited=voice.seconds(wait["waited_s"]),
        position=wait["position"],
        expected=expected,
        since=since,
    )


def _attempt(voice: Voice, attempt: Facts) -> str:
    backend, took, outcome = attempt["backend"], attempt["took_s"], attempt["outcome"]
    plain = {None: words.UNDER_WAY, ANSWERED: words.ANSWERED, INTERRUPTED: words.BROKEN_OFF}
    if outcome in plain:
        return voice.say(plain[outcome], backend=backend, took=voice.seconds(took))
    return voice.say(
        words.FAILED,
        backend=backend,
        took=voice.seconds(took),
        outcome=voice.word(words.OUTCOMES, outcome),
        detail=voice.in_brackets(attempt["detail"].rstrip(".")),
    )


def _decision(voice: Voice, decision: Facts) -> str:
    refused = voice.listed(
        f"{b['backend']}{voice.in_brackets(_why(voice, b['refused']))}"
        for b in decision["backends"]
        if b["refused"] is not None
    )
    if decision["chosen"] is None:
        return voice.say(words.NONE_TAKES, model=decision["model"], refused=refused)
    name = _named(voice, decision, decision["chosen"])
    told = voice.say(words.CHOSEN, name=name, reason=_reason(voice, decision))
    if refused:
        told += ("" if voice.is_chinese else " ") + voice.say(words.LEFT_OUT, refused=refused)
    return told


def _why(voice: Voice, refused: Facts) -> str:
    why, detail = voice.word(words.WHY, refused["why"]), refused["detail"]
    if refused["why"] in words.SAY_ENOUGH or not detail:
        return why
    return f"{why}：{detail}" if voice.is_chinese else f"{why}: {detail}"


def _reason(voice: Voice, decision: Facts) -> str:
    """Why the chosen one was chosen, as the end of a sentence."""
    decided = decision["decided_by"]
    if decided is None:
        return ""
    by, reason = decided["by"], decision["rule_reason"]
    if by == "only_one":
        return voice.say(words.ONLY_ONE)
    if by == "rule":
        return voice.say(words.BY_RULE, reason=reason) if reason else voice.say(words.BY_ANY_RULE)
    values = {
        "cost": voice.seconds(decided["cost_s"]),
        "against_cost": voice.seconds(decided["against_cost_s"]),
        "against": _named(voice, decision, decided["against"]),
    }
    if by in ("draw", "weight"):
        return voice.say(words.DRAW if by == "draw" else words.WEIGHT, **values)
    uncached = {b["backend"]: figure(b["uncached_tokens"], 0) for b in decision["backends"]}
    difference = voice.say(
        words.DIFFERENCES[by],
        here=voice.seconds(decided["seconds"]),
        there=voice.seconds(decided["against_seconds"]),
        tokens=uncached[decision["chosen"]],
        against_tokens=uncached[decided["against"]],
    )
    return voice.say(words.LEAST, **values, difference=difference)


def _named(voice: Voice, decision: Facts, name: str) -> str:
    """The backend's name, with its tier where that is not `graph`."""
    for backend in decision["backends"]:
        if backend["backend"] == name and backend["tier"] != "graph":
            return f"{name}{voice.in_brackets(backend['tier'])}"
    return name

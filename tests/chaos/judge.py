"""What one answer is worth, against the answer that was known beforehand. Pure."""

from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """The class of one answer."""

    WHOLE = "whole"
    """Text and finish reason are the expected ones."""
    ERROR = "error"
    """The client was told of a failure."""
    TRUNCATED = "truncated"
    """It ended without an error, but the end of the text is missing."""
    WRONG = "wrong"
    """Anything else: doubled or changed text, two roles, two ends, another id or model."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What an undisturbed backend says."""

    text: str
    finish: str
    completion_tokens: int


@dataclass(slots=True)
class Observed:
    """What the client library handed over, event by event; a plain answer counts as one event."""

    is_chat: bool
    is_stream: bool
    text: str = ""
    events: int = 0
    roles: list[str] = field(default_factory=list)
    is_role_first: bool = True
    """No text came before the first role."""
    finishes: list[str] = field(default_factory=list)
    is_text_after_finish: bool = False
    ids: list[str] = field(default_factory=list)
    """Different ids, in order of appearance."""
    models: list[str] = field(default_factory=list)
    """Different models, in order of appearance."""
    completion_tokens: list[int] = field(default_factory=list)
    """From each event with usage."""
    error: str | None = None
    request_id: str | None = None

    def note(
        self, answer_id: str, model: str, role: str | None, text: str | None, finish: str | None
    ) -> None:
        """Take in one event."""
        self.events += 1
        self.note_head(answer_id, model)
        if role is not None:
            self.roles.append(role)
        if text:
            self.is_role_first &= bool(self.roles)
            self.is_text_after_finish |= bool(self.finishes)
            self.text += text
        if finish is not None:
            self.finishes.append(finish)

    def note_head(self, answer_id: str, model: str) -> None:
        """Take in whose event it is."""
        if answer_id not in self.ids:
            self.ids.append(answer_id)
        if model not in self.models:
            self.models.append(model)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reason ("" for a whole answer)."""

    verdict: Verdict
    reason: str = ""


def judge(seen: Observed, expected: Expected, model: str) -> Judgement:
    """The verdict over one answer for the public name `model`."""
    is_prefix = expected.text.startswith(seen.text)
    if not is_prefix:
        return Judgement(Verdict.WRONG, _difference(seen.text, expected.text))
    if seen.error is not None:
        return Judgement(Verdict.ERROR, seen.error)
    malformed = _malformed(seen, model)
    if malformed is not None:
        return Judgement(Verdict.WRONG, malformed)
    if seen.text != expected.text:
        end = f"finish {seen.finishes[0]!r}" if seen.finishes else "no finish"
        sizes = f"{len(seen.text)} of {len(expected.text)} characters"
        return Judgement(Verdict.TRUNCATED, f"{sizes}, {end}")
    missing = _missing(seen)
    if missing is not None:
        return Judgement(Verdict.WRONG, missing)
    if seen.finishes != [expected.finish]:
        told = f"finish is {seen.finishes[0]!r} instead of {expected.finish!r}"
        return Judgement(Verdict.WRONG, told)
    return Judgement(Verdict.WHOLE)


def usage_is_off(seen: Observed, expected: Expected, *, is_asked_for: bool) -> bool:
    """Whether the token count of a whole answer is missing, doubled or another one."""
    wanted = [expected.completion_tokens] if is_asked_for else []
    return seen.completion_tokens != wanted


def _malformed(seen: Observed, model: str) -> str | None:
    """What is wrong whatever the text is."""
    if len(seen.finishes) > 1:
        return f"{len(seen.finishes)} finishes: {seen.finishes}"
    if seen.is_text_after_finish:
        return "text after the finish"
    if len(seen.ids) > 1:
        return f"{len(seen.ids)} ids: {seen.ids}"
    if any(found != model for found in seen.models):
        return f"model is {seen.models} instead of {model!r}"
    if len(seen.roles) > 1 or any(role != "assistant" for role in seen.roles):
        return f"roles {seen.roles}"
    if seen.is_chat and not seen.is_role_first:
        return "text before the role"
    return None


def _missing(seen: Observed) -> str | None:
    """What an answer with the whole text still lacks."""
    if seen.is_chat and not seen.roles:
        return "no role"
    if not seen.finishes:
        return "the whole text, but no finish"
    return None


def _difference(got: str, wanted: str) -> str:
    at = next((i for i, (a, b) in enumerate(zip(got, wanted, strict=False)) if a != b), len(wanted))
    if got.startswith(wanted):
        return f"{len(got) - len(wanted)} characters too many: {got[at : at + 30]!r}"
    return f"differs from character {at} on: {got[at : at + 30]!r} not {wanted[at : at + 30]!r}"

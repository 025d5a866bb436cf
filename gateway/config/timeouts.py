"""Time limits of a request: the defaults by tier, what holds, and which are too short."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gateway.config.draft import Draft, Entry
from gateway.config.members import members_among
from gateway.config.problems import Code, Finding
from gateway.config.schema import BackendConfig, Chip, ModelConfig, Tier, Timeouts
from gateway.words import Words

DEFAULT_TOTAL_S: Final = 3600.0
"""Seconds for a whole request whose model sets no limit."""


@dataclass(frozen=True, slots=True)
class PhaseTimeouts:
    """How long each phase of one request may last, in seconds."""

    connect_s: float
    first_byte_s: float
    between_events_s: float
    total_s: float


def phase_defaults(tier: Tier, *, is_stream: bool = True) -> PhaseTimeouts:
    """The limits when the file gives none.

    An answer that is not streamed comes whole, so its first byte may take the whole time.
    """
    total_s = DEFAULT_TOTAL_S
    return PhaseTimeouts(
        connect_s=5.0,
        first_byte_s=300.0 if is_stream else total_s,
        between_events_s=60.0 if tier is Tier.GRAPH else 120.0,
        total_s=total_s,
    )


def effective_timeouts(given: Timeouts, tier: Tier, *, is_stream: bool = True) -> PhaseTimeouts:
    """What the model's file says, and the tier's default for the rest."""
    default = phase_defaults(tier, is_stream=is_stream)
    total_s = given.total_s or default.total_s
    first_byte_s = given.first_byte_s or (default.first_byte_s if is_stream else total_s)
    return PhaseTimeouts(
        connect_s=given.connect_s or default.connect_s,
        first_byte_s=first_byte_s,
        between_events_s=given.between_events_s or default.between_events_s,
        total_s=total_s,
    )


# Reference speeds of one request on 310P (measured on Atlas 300I Duo, TP 2): tokens per second.
PREFILL_TOKENS_PER_S: Final = 500.0
GRAPH_TOKENS_PER_S: Final = 17.0
GRAPH_LARGE_TOKENS_PER_S: Final = 4.5
EAGER_TOKENS_PER_S: Final = 5.8
LARGE_FROM_BILLIONS: Final = 14.0
DEFAULT_CONTEXT_TOKENS: Final = 32768

ORDINARY_ANSWER_TOKENS: Final = 512
SHORTEST_GAP_S: Final = 10.0
"""A step that also holds a prefill chunk, or a preemption, easily takes several seconds."""

_BILLIONS: Final = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b(?![a-z0-9])")


def decode_speed(backend: BackendConfig) -> float:
    """Tokens per second of one request by tier and model size, as measured on 310P."""
    text = f"{backend.served_name} {backend.root or ''}".lower()
    size = max((float(number) for number in _BILLIONS.findall(text)), default=0.0)
    graph = GRAPH_LARGE_TOKENS_PER_S if size >= LARGE_FROM_BILLIONS else GRAPH_TOKENS_PER_S
    return graph if backend.tier is Tier.GRAPH else min(graph, EAGER_TOKENS_PER_S)


def timeout_rules(draft: Draft) -> Iterator[Finding]:
    """Given limits leave an ordinary request enough time on each backend of the model."""
    records = [entry.record for entry in draft.backends]
    for entry in draft.models:
        if "timeouts" in entry.damaged:
            continue
        yield from _order(entry)
        backends = [member.backend for member in members_among(records, entry.record)]
        slow = [b for b in backends if b.chip in (None, Chip.A310P)]
        if slow:
            yield from _too_short(entry, slow)


def _order(entry: Entry[ModelConfig]) -> Iterator[Finding]:
    given = entry.record.timeouts
    if given.total_s is None:
        return
    for field in ("first_byte_s", "between_events_s"):
        limit = getattr(given, field)
        if limit is not None and limit > given.total_s:
            yield Finding(
                Code.TIMEOUT_NEVER_REACHED,
                ("models", entry.index, "timeouts", field),
                Words(
                    f"{field} {limit:g} is above total_s {given.total_s:g}, so it never applies",
                    f"{field} {limit:g} 大于 total_s {given.total_s:g}，因此永远不会生效",
                ),
                Words("Raise total_s, or lower it.", f"请调大 total_s，或调小 {field}。"),
            )


def _too_short(entry: Entry[ModelConfig], backends: list[BackendConfig]) -> Iterator[Finding]:
    given = entry.record.timeouts
    path = ("models", entry.index, "timeouts")
    longest = max(backends, key=lambda b: b.max_model_len or DEFAULT_CONTEXT_TOKENS)
    prompt = longest.max_model_len or DEFAULT_CONTEXT_TOKENS
    need_s = prompt / PREFILL_TOKENS_PER_S
    if given.first_byte_s is not None and given.first_byte_s < need_s:
        yield Finding(
            Code.TIMEOUT_TOO_SHORT,
            (*path, "first_byte_s"),
            Words(
                f"{given.first_byte_s:g} s is too short for backend {longest.name!r}: a prompt of "
                f"{prompt} tokens takes about {need_s:.0f} s to read",
                f"{given.first_byte_s:g} 秒对后端 {longest.name!r} 太短：读完 {prompt} token 的"
                f"提示约需 {need_s:.0f} 秒",
            ),
            _raise_to(need_s),
        )
    if given.between_events_s is not None and given.between_events_s < SHORTEST_GAP_S:
        yield Finding(
            Code.TIMEOUT_TOO_SHORT,
            (*path, "between_events_s"),
            Words(
                f"{given.between_events_s:g} s between two events is too short: a step with a "
                "prompt of another request in it takes several seconds",
                f"两个事件之间 {given.between_events_s:g} 秒太短：夹带其他请求提示的一步要花好几秒",
            ),
            _raise_to(SHORTEST_GAP_S),
        )
    slowest = min(backends, key=decode_speed)
    need_s = ORDINARY_ANSWER_TOKENS / decode_speed(slowest)
    if given.total_s is not None and given.total_s < need_s:
        yield Finding(
            Code.TIMEOUT_TOO_SHORT,
            (*path, "total_s"),
            Words(
                f"{given.total_s:g} s is too short for backend {slowest.name!r} ({slowest.tier}): "
                f"{ORDINARY_ANSWER_TOKENS} tokens take about {need_s:.0f} s",
                f"{given.total_s:g} 秒对后端 {slowest.name!r}（{slowest.tier}）太短："
                f"{ORDINARY_ANSWER_TOKENS} token 约需 {need_s:.0f} 秒",
            ),
            _raise_to(need_s),
        )


def _raise_to(seconds: float) -> Words:
    return Words(
        f"Raise it to {seconds:.0f} or more, or leave it out.",
        f"请调到 {seconds:.0f} 以上，或不填。",
    )

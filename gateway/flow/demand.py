"""What a request demands, measured once: its size, its limit, its kind, whose it is."""

import contextlib
from typing import Final, NamedTuple

from gateway.config.schema import QueueConfig
from gateway.config.vocabulary import Tier
from gateway.errors import Outcome, Refusal
from gateway.fleet.learning.characters import TextSize
from gateway.fleet.learning.model import ModelLessons
from gateway.fleet.names import Model
from gateway.fleet.view import ModelView
from gateway.flow.call import Call
from gateway.flow.course import Course
from gateway.flow.take import Taken
from gateway.placement.eligible import Need
from gateway.placement.order import MOST_PRIORITY
from gateway.placement.want import Kind, Want
from gateway.protocol.chunks import Protocol
from gateway.protocol.demand import (
    choices_asked,
    max_output_tokens,
    previous_response_id,
    user_of,
)
from gateway.protocol.headers import first
from gateway.protocol.prompt_blocks import prompt_text

PRIORITY_HEADER: Final = b"x-priority"
CONVERSATION_HEADER: Final = b"x-session-id"
TIER_HEADER: Final = b"x-tier"

# No tokenizer makes fewer tokens than this of ordinary text: what is too long by this is too long.
_CHARS_PER_TOKEN_AT_MOST: Final = 10
# Numbers of clients can be of any size; beyond this they say nothing more.
_MOST_TOKENS: Final = 10**9
_LONGEST_KEY: Final = 256
_BATCHES: Final = ("prompt", "input", "documents", "text_2", "queries", "items")
# Whoever was placed already goes before those that were not.
_RETRY_PRIORITY: Final = -5


class Demand(NamedTuple):
    """What a request demands. `conversation` names what it belongs to, "" if nothing does; with
    `is_stored` the engine alone knows what was said before.
    """

    kind: Kind
    size: TextSize
    blocks: tuple[int, ...]
    media: frozenset[str]
    limit_tokens: int | None
    sequences: int
    priority: int
    conversation: str
    tier: Tier | None
    is_stored: bool
    is_batch: bool
    is_stream: bool
    body_bytes: int

    @property
    def least_tokens(self) -> int:
        """Tokens of context that it needs for sure, by the fewest that its text can make."""
        prompt = self.size.token_ids + self.size.chars // _CHARS_PER_TOKEN_AT_MOST
        return prompt + max(1, self.limit_tokens or 1)


def demand_of(call: Call, taken: Taken, queue: QueueConfig) -> Demand:
    """What the request demands; raises `Refusal` for a header that can't be understood."""
    payload = taken.facts.payload
    kind = _kind(call)
    assert call.model is not None
    # With a single backend there is no choice that a cached prefix could decide.
    has_choice = len(call.model.members) > 1 and kind is Kind.GENERATE
    text = prompt_text(payload, call.model.name, with_blocks=has_choice)
    size = TextSize(text.chars, text.utf8_bytes, text.token_ids)
    limit = max_output_tokens(payload)
    key = queue.priorities.get(call.caller.name, 0)
    return Demand(
        kind=kind,
        size=size,
        blocks=text.blocks,
        media=text.media,
        limit_tokens=None if limit is None else min(limit, _MOST_TOKENS),
        sequences=choices_asked(payload) if kind is Kind.GENERATE else 1,
        priority=max(key, _asked_priority(call, payload.get("priority"), key)),
        conversation=_conversation(call, payload),
        tier=_tier(call),
        is_stored=previous_response_id(payload) is not None,
        is_batch=any(_is_batch(payload.get(name)) for name in _BATCHES),
        is_stream=taken.facts.is_stream,
        body_bytes=taken.size_bytes,
    )


def want_of(
    call: Call,
    demand: Demand,
    course: Course,
    model: Model,
    lessons: ModelLessons,
    view: ModelView,
) -> Want:
    """The want of a request at one model; raises `Refusal` if it fits none of its backends."""
    prompt_tokens = lessons.text.estimate_tokens(demand.size)
    if course.resumption is not None:
        prompt_tokens += course.resumption.transcript.said_total
    want = Want(
        call.request_id,
        call.started_s,
        prompt_tokens,
        demand.limit_tokens,
        demand.blocks,
        tenant=call.caller.name,
        priority=demand.priority + (_RETRY_PRIORITY if call.attempts else 0),
        need=_need(call, demand, course, model, view, prompt_tokens),
        tried=course.tried,
    )
    want.kind = demand.kind
    want.sequences = demand.sequences
    want.failed_in = course.failed_in
    return want


def _need(
    call: Call, demand: Demand, course: Course, model: Model, view: ModelView, prompt_tokens: int
) -> Need:
    has_keys = any(backend.facts.keys is not None for backend in view.backends)
    is_special = demand.tier is not None or bool(demand.media) or has_keys
    context_tokens = 0
    # In a batch each prompt has a context of its own; the engine knows best.
    if demand.kind is not Kind.ASK and not demand.is_batch:
        said = 0 if course.resumption is None else course.resumption.transcript.said_total
        guessed = prompt_tokens + max(1, (demand.limit_tokens or 1) - said)
        context_tokens = _context_tokens(demand.least_tokens, guessed, model, view)
    context_tokens = max(context_tokens, course.least_context_tokens)
    course.need = Need(context_tokens, demand.tier, demand.media, call.caller.name, is_special)
    return course.need


def _context_tokens(least: int, guessed: int, model: Model, view: ModelView) -> int:
    """The context to look for: as guessed, unless only a guess is against all of the backends."""
    lengths = [backend.facts.max_model_len for backend in view.backends]
    known = [length for length in lengths if length is not None]
    own = model.config.limits.max_context_tokens
    if own is None and (not known or len(known) < len(lengths)):
        return guessed
    longest = max(known, default=own or 0)
    if own is not None:
        longest = min(longest, own)
    if guessed <= longest:
        return guessed
    # Where all backends are alike, the engine's own refusal says it best, in the engine's words.
    if least > longest and (own is not None or len(set(known)) > 1):
        raise Refusal(
            Outcome.CONTEXT_TOO_LONG,
            f"The request needs at least {least} tokens of context, prompt and answer together; "
            f"the largest max_model_len that '{model.name}' has is {longest}. Shorten the prompt "
            "or lower max_tokens.",
            param="messages",
        )
    # The engine counts exactly, and says best what is wrong.
    return min(guessed, longest)


def response_key(response_id: str) -> str:
    """The conversation of a stored response; no client's own name of one looks like it."""
    return f"\0{response_id}"


def _is_batch(prompt: object) -> bool:
    return type(prompt) is list and len(prompt) > 1 and type(prompt[0]) in (str, list)


def _kind(call: Call) -> Kind:
    if not call.endpoint.is_for_engine:
        return Kind.ASK
    return Kind.COMPUTE if call.endpoint.protocol is Protocol.GENERIC else Kind.GENERATE


def _asked_priority(call: Call, in_body: object, fallback: int) -> int:
    """What the client asks for, lower for sooner: by header or in the body, as engines take it."""
    header = first(call.headers, PRIORITY_HEADER)
    if header is not None:
        with contextlib.suppress(ValueError):
            return _bounded(int(header))
        raise Refusal(
            Outcome.HEADER_INVALID,
            f"The header {PRIORITY_HEADER.decode()} must be a whole number; lower goes first.",
        )
    return _bounded(in_body) if type(in_body) is int else fallback


def _bounded(priority: int) -> int:
    return min(max(priority, -MOST_PRIORITY), MOST_PRIORITY)


def _conversation(call: Call, payload: dict[str, object]) -> str:
    before = previous_response_id(payload)
    if before is not None:
        return response_key(before) if len(before) <= _LONGEST_KEY else ""
    header = first(call.headers, CONVERSATION_HEADER)
    if header is not None:
        return f"{call.caller.name}/{header[:_LONGEST_KEY].decode('latin-1')}"
    user = user_of(payload)
    return "" if user is None else f"{call.caller.name}/{user[:_LONGEST_KEY]}"


def _tier(call: Call) -> Tier | None:
    header = first(call.headers, TIER_HEADER)
    if header is None:
        return None
    try:
        return Tier(header.strip().lower().decode("latin-1"))
    except ValueError:
        raise Refusal(
            Outcome.HEADER_INVALID,
            f"The header {TIER_HEADER.decode()} must be one of {', '.join(Tier)}.",
        ) from None

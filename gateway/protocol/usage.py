"""Token counts that an engine reports, in the names of each protocol."""

from typing import Annotated, Any, Final, NamedTuple

import msgspec


class Usage(NamedTuple):
    """Tokens of one request; None where the engine did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None

    def merged_with(self, later: "Usage") -> "Usage":
        """The later figures, and these where the later ones say nothing."""
        return Usage(
            prompt_tokens=_first(later.prompt_tokens, self.prompt_tokens),
            completion_tokens=_first(later.completion_tokens, self.completion_tokens),
            cached_tokens=_first(later.cached_tokens, self.cached_tokens),
        )


_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Details(msgspec.Struct, gc=False):
    cached_tokens: _Count | None = None


class _Usual(msgspec.Struct, gc=False):
    """The shape of chat and completions, which most answers have."""

    prompt_tokens: _Count
    completion_tokens: _Count | None = None
    prompt_tokens_details: _Details | None = None


_USUAL: Final = msgspec.json.Decoder(_Usual)


def read_usage(raw: bytes | memoryview | msgspec.Raw) -> Usage | None:
    """The figures of a `usage` object in JSON; None if it is null or not an object.

    OpenAI says prompt_tokens and completion_tokens, the Responses API and Anthropic say
    input_tokens and output_tokens; audio answers may count seconds instead.
    """
    try:
        usual = _USUAL.decode(raw)
    except msgspec.DecodeError:
        return _read_leniently(raw)
    details = usual.prompt_tokens_details
    return Usage(
        usual.prompt_tokens,
        usual.completion_tokens,
        None if details is None else details.cached_tokens,
    )


def _read_leniently(raw: bytes | memoryview | msgspec.Raw) -> Usage | None:
    try:
        fields = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return None
    if not isinstance(fields, dict):
        return None
    cached = _count(fields, "cache_read_input_tokens")
    for name in ("prompt_tokens_details", "input_tokens_details"):
        details = fields.get(name)
        if isinstance(details, dict):
            cached = _first(_count(details, "cached_tokens"), cached)
    return Usage(
        prompt_tokens=_first(_count(fields, "prompt_tokens"), _count(fields, "input_tokens")),
        completion_tokens=_first(
            _count(fields, "completion_tokens"), _count(fields, "output_tokens")
        ),
        cached_tokens=cached,
    )


def _count(fields: dict[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return value if type(value) is int and value >= 0 else None


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None else one

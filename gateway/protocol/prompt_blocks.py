"""A prompt as text, cut into blocks whose hashes tell how much two prompts have in common."""

import json
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

BLOCK_BYTES: Final = 512
"""About 128 tokens, an engine's block on Ascend: 4 bytes a token in English and in Chinese."""

_MOST_BLOCKS: Final = 4096
_MOST_IDS: Final = 2 * _MOST_BLOCKS * BLOCK_BYTES // 4
# In the order in which chat templates put them before the conversation.
_FIRST_FIELDS: Final = ("instructions", "system", "prompt", "input", "query", "text_1", "queries")
_LAST_FIELDS: Final = ("documents", "text_2", "items")
_MEDIA_KEYS: Final = ("image_url", "input_audio", "video_url", "image", "audio_url", "source")
_ENCODER: Final = msgspec.json.Encoder()


class PromptText(NamedTuple):
    """A prompt's size, its blocks, and whether it has pictures, sound or video.

    `blocks` are hashes, each of all text up to its end, the same at all gateways.
    """

    chars: int
    utf8_bytes: int
    token_ids: int
    blocks: tuple[int, ...]
    media: frozenset[str]


def prompt_text(payload: dict[str, Any], seed: str, *, with_blocks: bool = True) -> PromptText:
    """The prompt of a decoded request; `seed` separates what does not share a cache."""
    pieces: list[str] = []
    media: set[str] = set()
    token_ids = 0
    tools = payload.get("tools")
    if type(tools) is list and tools:
        pieces.append(_as_text(tools))
    for name in _FIRST_FIELDS:
        token_ids += _gather(payload.get(name), pieces, media)
    token_ids += _gather(payload.get("messages"), pieces, media)
    for name in _LAST_FIELDS:
        token_ids += _gather(payload.get(name), pieces, media)
    text = "\n".join(pieces)
    raw = text.encode("utf-8", "surrogatepass")
    blocks = _blocks(raw, seed) if with_blocks else ()
    if token_ids:
        # Ids are exact; as text they only serve to tell prompts apart.
        return PromptText(0, 0, token_ids, blocks, frozenset(media))
    return PromptText(len(text), len(raw), token_ids, blocks, frozenset(media))


def _blocks(raw: bytes, seed: str) -> tuple[int, ...]:
    """The same at all gateways; 64 bits are enough, since a mistake costs a little time only."""
    so_far = blake2b(seed.encode("utf-8", "surrogatepass"), digest_size=8)
    keys: list[int] = []
    for at in range(BLOCK_BYTES, min(len(raw), _MOST_BLOCKS * BLOCK_BYTES) + 1, BLOCK_BYTES):
        so_far.update(raw[at - BLOCK_BYTES : at])
        keys.append(int.from_bytes(so_far.copy().digest(), "little"))
    return tuple(keys)


def _gather(value: Any, pieces: list[str], media: set[str]) -> int:
    """Adds the text in a field; returns how many token ids were in it."""
    if value is None:
        return 0
    kind = type(value)
    if kind is str:
        pieces.append(value)
    elif kind is dict:
        return _gather_object(value, pieces, media)
    elif kind is list:
        if value and type(value[0]) is int:
            # Ids are text of a kind: prompts that begin with the same ones share their blocks.
            pieces.append(",".join(map(str, value[:_MOST_IDS])))
            return len(value)
        return sum(_gather(one, pieces, media) for one in value)
    return 0


def _gather_object(value: dict[str, Any], pieces: list[str], media: set[str]) -> int:
    """A message, a part of one, or a document."""
    role = value.get("role")
    if type(role) is str:
        pieces.append(role)
    kind = value.get("type")
    for key in _MEDIA_KEYS:
        if key in value:
            media.add(_medium(key, kind))
            # What it shows counts for the cache, its length does not count as text.
            pieces.append(str(hash(_as_text(value[key]))))
            break
    token_ids = 0
    for key in ("content", "text", "reasoning", "reasoning_content", "arguments", "output"):
        token_ids += _gather(value.get(key), pieces, media)
    calls = value.get("tool_calls")
    if type(calls) is list and calls:
        pieces.append(_as_text(calls))
    return token_ids


def _as_text(value: Any) -> str:
    try:
        return _ENCODER.encode(value).decode("utf-8")
    except UnicodeEncodeError:
        # Half of a surrogate pair: models cut characters in two, and clients send them back.
        return json.dumps(value)


def _medium(key: str, kind: Any) -> str:
    text = f"{key} {kind}"
    if "audio" in text:
        return "audio"
    return "video" if "video" in text else "image"

"""JSON as vLLM writes it: compact, in insertion order, without ASCII escapes."""

import json
from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder()


def dumpb(value: Any) -> bytes:
    """Compact JSON bytes."""
    return _ENCODER.encode(value)


def dumps(value: Any) -> str:
    """JSON with Python's default spacing, as in-stream errors and tool arguments have it."""
    return json.dumps(value, ensure_ascii=False)


def loads(body: bytes) -> Any:
    """What the engine's `json.loads` makes of a body: a BOM and NaN pass, the last duplicate wins.

    ValueError (of which UnicodeDecodeError is one) or RecursionError when it refuses.
    """
    return json.loads(body)

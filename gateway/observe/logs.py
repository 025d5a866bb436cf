"""The gateway's log: one structured line per request and per event, as JSON or as text."""

import json
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol

import msgspec

LogFormat = Literal["json", "text"]
Level = Literal["debug", "info", "warning", "error"]

_ORDER: Final[Mapping[str, int]] = MappingProxyType(
    {"debug": 0, "info": 1, "warning": 2, "error": 3}
)


class Sink(Protocol):
    """Where lines go; `write` must not block."""

    def write(self, line: bytes) -> None:
        """Takes one line without its line end."""

    def close(self) -> None:
        """Writes what is left; may block for a moment."""


class Log:
    """Writes records as lines. `access` is for requests, `event` for everything else."""

    def __init__(
        self,
        sink: Sink,
        wall_s: Callable[[], float],
        *,
        form: LogFormat = "json",
        level: Level = "info",
        is_access_on: bool = True,
    ) -> None:
        self._sink = sink
        self._wall_s = wall_s
        self._encode = _as_json if form == "json" else _as_text
        self._least = _ORDER[level]
        self.is_access_on = is_access_on

    def access(self, fields: Mapping[str, Any]) -> None:
        """One finished request."""
        if self.is_access_on:
            self._write("request", fields)

    def event(self, level: Level, event: str, **fields: Any) -> None:
        """One thing that happened."""
        if _ORDER[level] >= self._least:
            self._write(event, {"level": level, **fields})

    def crash(self, event: str, error: BaseException, **fields: Any) -> None:
        """A fault of our own, with where it happened."""
        trace = "".join(traceback.format_exception(error))
        self.event("error", event, error=repr(error), trace=trace, **fields)

    def close(self) -> None:
        """Lets the last lines out; may block for a moment."""
        self._sink.close()

    def _write(self, event: str, fields: Mapping[str, Any]) -> None:
        stamp = datetime.fromtimestamp(self._wall_s(), UTC).isoformat(timespec="milliseconds")
        self._sink.write(self._encode({"time": stamp, "event": event, **fields}))


def _as_json(record: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(record)
    except UnicodeEncodeError:
        # A client may send a lone surrogate in a name; it is shown escaped.
        return json.dumps(record).encode("ascii")


def _as_text(record: dict[str, Any]) -> bytes:
    head = f"{record.pop('time')} {record.pop('event')}"
    rest = " ".join(f"{k}={_plain(v)}" for k, v in record.items() if v is not None)
    return f"{head} {rest}".encode("utf-8", "backslashreplace")


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)
    is_bare = bool(text) and text.isprintable() and " " not in text
    return text if is_bare else json.dumps(text, ensure_ascii=False)

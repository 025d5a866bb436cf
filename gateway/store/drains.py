"""Which backends an operator has taken out, so that a restart does not put them back. Blocking."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Final

from gateway.store.files import folder_lock, make_folder, read_within, write_whole
from gateway.words import Words

_NAME: Final = "drains.json"
_FORMAT: Final = 1
_MAX_BYTES: Final = 4 * 1024 * 1024
_MAX_DRAINS: Final = 10_000
_MAX_CHARS: Final = 500

_NOT_READ: Final = Words(
    "{file} can't be read ({reason}), so the gateway does not know which backends were taken out; "
    "drain them again",
    "无法读取 {file}（{reason}），网关不知道哪些后端曾被摘除，请重新执行 drain",
)
_NOT_WRITTEN: Final = Words(
    "which backends are taken out can't be written to {file} ({reason}); a restart will put them "
    "back",
    "摘除的后端无法写入 {file}（{reason}），重启后它们会恢复服务",
)


@dataclass(frozen=True, slots=True)
class Drain:
    """Who took a backend out, why, and since when in seconds since 1970; 0: not known."""

    who: str
    reason: str
    since_s: float


class Drains:
    """The backends that are taken out, in one file of a folder, or in memory where there is none.

    Several processes may share a folder; each keeps what others have taken out. Nothing here
    raises; `trouble` says what went wrong the last time that it was read or written.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._mutex = Lock()
        self._unwritten: Mapping[str, Drain] | None = None if folder else MappingProxyType({})
        self._own: frozenset[str] = frozenset()
        self.trouble: Words | None = None

    def __repr__(self) -> str:
        where = "memory" if self._folder is None else str(self._folder)
        return f"<Drains in {where}, {'not written' if self._unwritten else 'written'}>"

    @property
    def is_in_memory(self) -> bool:
        """Whether there is no folder, so that a restart forgets them."""
        return self._folder is None

    def load(self) -> Mapping[str, Drain]:
        """The backends that are taken out, by name."""
        with self._mutex:
            if self._folder is None or self._unwritten is not None:
                return self._unwritten or MappingProxyType({})
            self.trouble = None
            found: Mapping[str, Drain] = {}
            try:
                found = _read(self._folder)
            except (OSError, ValueError, RecursionError) as error:
                self.trouble = _told(_NOT_READ, self._folder / _NAME, error)
            self._own = frozenset(found)
            return MappingProxyType(found)

    def save(self, drains: Mapping[str, Drain]) -> None:
        """Keeps these, at most 10 000, instead of those that were loaded or saved here before."""
        kept = {
            name: Drain(drain.who[:_MAX_CHARS], drain.reason[:_MAX_CHARS], drain.since_s)
            for name, drain in [*drains.items()][:_MAX_DRAINS]
        }
        with self._mutex:
            self._unwritten = MappingProxyType(kept)
            if self._folder is None:
                return
            self.trouble = None
            try:
                make_folder(self._folder)
                with folder_lock(self._folder):
                    others = {n: d for n, d in _others(self._folder).items() if n not in self._own}
                    write_whole(self._folder / _NAME, _as_bytes({**others, **kept}))
                self._unwritten, self._own = None, frozenset(kept)
            except (OSError, ValueError) as error:
                self.trouble = _told(_NOT_WRITTEN, self._folder / _NAME, error)


def _read(folder: Path) -> dict[str, Drain]:
    """What the file holds, nothing if there is none; raises OSError, ValueError, RecursionError."""
    try:
        return dict(_entries(json.loads(read_within(folder / _NAME, _MAX_BYTES))))
    except FileNotFoundError:
        return {}


def _others(folder: Path) -> dict[str, Drain]:
    """What the file holds; nothing of one that is damaged, which is written anew."""
    try:
        return _read(folder)
    except (OSError, ValueError, RecursionError):
        return {}


def _as_bytes(drains: Mapping[str, Drain]) -> bytes:
    tree = {"format": _FORMAT, "drains": {name: asdict(drain) for name, drain in drains.items()}}
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, indent=1).encode(
        "utf-8", "replace"
    )


def _entries(tree: Any) -> Iterator[tuple[str, Drain]]:
    """Every backend that is named; raises ValueError when the whole is something else."""
    drains = tree.get("drains") if isinstance(tree, dict) else None
    if not isinstance(drains, dict) or tree.get("format") != _FORMAT:
        raise ValueError("it is no list of drained backends")
    for name, item in [*drains.items()][:_MAX_DRAINS]:
        yield name, _drain(item if isinstance(item, dict) else {})


def _drain(item: Mapping[str, Any]) -> Drain:
    """As much as can be read: a backend that was taken out stays out in any case."""
    who, reason, since_s = (item.get(name) for name in ("who", "reason", "since_s"))
    return Drain(
        who=who[:_MAX_CHARS] if isinstance(who, str) else "",
        reason=reason[:_MAX_CHARS] if isinstance(reason, str) else "",
        since_s=float(since_s) if isinstance(since_s, int | float) and since_s < 1e12 else 0.0,
    )


def _told(text: Words, file: Path, error: Exception) -> Words:
    reason = getattr(error, "strerror", None) or str(error)
    return Words(text.en.format(file=file, reason=reason), text.zh.format(file=file, reason=reason))

"""The routing files that were in force, as they were written, so that one can go back. Blocking."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from gateway.store.files import folder_lock, make_folder, read_within, write_whole
from gateway.store.history_index import Entry, Record, digest_of, read_index, write_index
from gateway.words import Words

__all__ = ["Entry", "History"]

MAX_TEXT_BYTES: Final = 4 * 1024 * 1024
_MAX_MEMORY_BYTES: Final = 16 * 1024 * 1024
_MAX_WHO_CHARS: Final = 200
_MAX_NUMBER_DIGITS: Final = 9

_NOT_WRITTEN: Final = Words(
    "the history of the routing file can't be written to {folder} ({reason}); until that is mended "
    "it is kept in memory and lost with the process",
    "路由文件的历史无法写入 {folder}（{reason}）；修复之前只保存在内存中，进程退出即丢失",
)
_TOO_LARGE: Final = Words(
    "the routing file has {size} bytes; above {limit} bytes no copy is kept, so nobody can go back "
    "to it",
    "路由文件有 {size} 字节，超过 {limit} 字节，不保存副本，之后无法回滚到它",
)


class _Waiting(NamedTuple):
    """An entry that is in memory only: there is no folder, or it could not be written."""

    entry: Entry
    text: str


class History:
    """The last `limit` routing files (1 or more), in a folder, or in memory where there is none.

    What can't be written stays in memory and is tried again with the next file. Several processes
    and threads may share a folder. Damaged and foreign files in it are passed over. Nothing here
    raises; `trouble` says what went wrong when the last file was added.
    """

    def __init__(self, folder: Path | None, limit: int = 50) -> None:
        self._folder = folder
        self._limit = max(1, limit)
        self._mutex = Lock()
        self._waiting: list[_Waiting] = []
        self.trouble: Words | None = None

    def __repr__(self) -> str:
        where = "memory" if self._folder is None else str(self._folder)
        return f"<History in {where}, {len(self._waiting)} in memory>"

    def add(self, text: str, version: str, who: str, when_s: float) -> None:
        """Keeps a file that came into force at `when_s`, in seconds since 1970.

        The last one is not kept again; one that differs from it in comments only is.
        """
        size_bytes = len(text.encode("utf-8", "replace"))
        with self._mutex:
            self.trouble = None
            if size_bytes > MAX_TEXT_BYTES:
                self.trouble = _filled(_TOO_LARGE, size=size_bytes, limit=MAX_TEXT_BYTES)
                return
            known = self._entries()
            if known and known[-1].version == version and self._text(known[-1]) == text:
                return
            number = known[-1].number + 1 if known else 1
            entry = Entry(number, version, who[:_MAX_WHO_CHARS], when_s, size_bytes)
            self._waiting.append(_Waiting(entry, text))
            self._keep_few_in_memory()
            if self._folder is not None:
                self._write_out(self._folder)

    def entries(self) -> tuple[Entry, ...]:
        """What is kept, newest last."""
        with self._mutex:
            return self._entries()

    def text_of(self, key: str) -> str | None:
        """The newest file with that version, or the one with that number; None: not kept."""
        with self._mutex:
            texts = (self._text(entry) for entry in self._wanted(key))
            return next((text for text in texts if text is not None), None)

    def _entries(self) -> tuple[Entry, ...]:
        found = [record.entry for record in self._records()]
        for waiting in self._waiting:
            if found and _is_same(found[-1], waiting.entry):
                continue
            # Another process may have used its number meanwhile.
            least = found[-1].number + 1 if found else 1
            found.append(replace(waiting.entry, number=max(waiting.entry.number, least)))
        return tuple(found[-self._limit :])

    def _wanted(self, key: str) -> list[Entry]:
        """The entries that the key means, newest first."""
        entries = self._entries()[::-1]
        wanted = [entry for entry in entries if entry.version == key]
        number = key.removeprefix("#")
        is_number = number.isascii() and number.isdigit() and len(number) <= _MAX_NUMBER_DIGITS
        if wanted or not is_number:
            return wanted
        return [entry for entry in entries if entry.number == int(number)]

    def _text(self, entry: Entry) -> str | None:
        for waiting in self._waiting:
            if replace(waiting.entry, number=entry.number) == entry:
                return waiting.text
        for record in self._records():
            if record.entry == entry and self._folder is not None:
                return _read(self._folder, record)
        return None

    def _records(self) -> list[Record]:
        return [] if self._folder is None else [*read_index(self._folder)]

    def _write_out(self, folder: Path) -> None:
        try:
            make_folder(folder)
            with folder_lock(folder):
                records = [*read_index(folder)]
                for waiting in self._waiting:
                    records += _written(folder, waiting, records[-1] if records else None)
                write_index(folder, records[-self._limit :], records[: -self._limit])
            self._waiting.clear()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self.trouble = _filled(_NOT_WRITTEN, folder=folder, reason=reason)

    def _keep_few_in_memory(self) -> None:
        while len(self._waiting) > 1 and (
            len(self._waiting) > self._limit
            or sum(one.entry.size_bytes for one in self._waiting) > _MAX_MEMORY_BYTES
        ):
            del self._waiting[0]


def _is_same(one: Entry, other: Entry) -> bool:
    return (one.version, one.size_bytes) == (other.version, other.size_bytes)


def _written(folder: Path, waiting: _Waiting, last: Record | None) -> Iterator[Record]:
    """Writes the text behind the last one; nothing if that is the same."""
    entry, number = waiting.entry, waiting.entry.number
    data = waiting.text.encode("utf-8", "replace")
    if last is not None:
        if last.entry.version == entry.version and last.digest == digest_of(data):
            return
        number = max(number, last.entry.number + 1)
    record = Record(replace(entry, number=number), digest_of(data))
    write_whole(folder / record.file_name, data)
    yield record


def _read(folder: Path, record: Record) -> str | None:
    """The text of a record; None if the file is gone or not what was written."""
    try:
        data = read_within(folder / record.file_name, MAX_TEXT_BYTES)
        if record.digest is not None and digest_of(data) != record.digest:
            return None
        return data.decode("utf-8")
    except (OSError, ValueError):
        return None


def _filled(text: Words, **values: object) -> Words:
    return Words(text.en.format(**values), text.zh.format(**values))

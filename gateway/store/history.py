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


class _Kept(NamedTuple):
    """What is kept; None for a text that is on disk."""

    record: Record
    text: str | None


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
        size_bytes = len(_as_bytes(text))
        with self._mutex:
            self.trouble = None
            if size_bytes > MAX_TEXT_BYTES:
                self.trouble = _filled(_TOO_LARGE, size=size_bytes, limit=MAX_TEXT_BYTES)
                return
            last = next(reversed(self._kept()), None)
            if (
                last is not None
                and last.record.entry.version == version
                and self._text(last) == text
            ):
                return
            number = 1 if last is None else last.record.entry.number + 1
            entry = Entry(number, version, who[:_MAX_WHO_CHARS], when_s, size_bytes)
            self._waiting.append(_Waiting(entry, text))
            self._keep_few_in_memory()
            if self._folder is not None:
                self._write_out(self._folder)

    def entries(self) -> tuple[Entry, ...]:
        """What is kept, newest last."""
        with self._mutex:
            return tuple(kept.record.entry for kept in self._kept())

    def text_of(self, key: str) -> str | None:
        """The newest file with that version, or the one with that number; None: not kept."""
        with self._mutex:
            texts = (self._text(kept) for kept in self._wanted(key))
            return next((text for text in texts if text is not None), None)

    def _kept(self) -> list[_Kept]:
        found = [_Kept(record, None) for record in self._records()]
        for waiting in self._waiting:
            record = Record(waiting.entry, digest_of(_as_bytes(waiting.text)))
            last = found[-1].record if found else None
            if last is None or not _is_same(last, record):
                # Another process may have used its number meanwhile.
                found.append(_Kept(_behind(last, record), waiting.text))
        return found[-self._limit :]

    def _wanted(self, key: str) -> list[_Kept]:
        """What the key means, newest first."""
        kept = self._kept()[::-1]
        wanted = [one for one in kept if one.record.entry.version == key]
        number = key.removeprefix("#")
        is_number = number.isascii() and number.isdigit() and len(number) <= _MAX_NUMBER_DIGITS
        if wanted or not is_number:
            return wanted
        return [one for one in kept if one.record.entry.number == int(number)]

    def _text(self, kept: _Kept) -> str | None:
        if kept.text is not None or self._folder is None:
            return kept.text
        return _read(self._folder, kept.record)

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


def _is_same(one: Record, other: Record) -> bool:
    """Whether two texts are one; by their size where the digest of the first is not known."""
    if one.entry.version != other.entry.version:
        return False
    if one.digest is None:
        return one.entry.size_bytes == other.entry.size_bytes
    return one.digest == other.digest


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _behind(last: Record | None, record: Record) -> Record:
    """The record with a number above the last one's."""
    if last is None or last.entry.number < record.entry.number:
        return record
    return record._replace(entry=replace(record.entry, number=last.entry.number + 1))


def _written(folder: Path, waiting: _Waiting, last: Record | None) -> Iterator[Record]:
    """Writes the text behind the last one; nothing if that is the same."""
    data = _as_bytes(waiting.text)
    record = Record(waiting.entry, digest_of(data))
    if last is not None and _is_same(last, record):
        return
    record = _behind(last, record)
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

"""The index of the kept routing files: who brought which version into force, and when. Blocking."""

import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from gateway.store.files import clear_abandoned, read_within, write_whole

INDEX_NAME: Final = "index.json"
_FORMAT: Final = 1
_MAX_INDEX_BYTES: Final = 16 * 1024 * 1024
_FILE_NAME: Final = re.compile(r"(\d{6,9})-([A-Za-z0-9_-]{1,64})\.yaml", re.ASCII)
_VERSION: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Entry:
    """One routing file that came into force: by whom, and when in seconds since 1970.

    Numbers begin at 1 and rise. `who` is empty where it is not known any more.
    """

    number: int
    version: str
    who: str
    when_s: float
    size_bytes: int


class Record(NamedTuple):
    """An entry with the SHA-256 of its text; None: not known."""

    entry: Entry
    digest: str | None

    @property
    def file_name(self) -> str:
        """Where the text is; raises ValueError for a version that can't be part of a name."""
        if not _VERSION.fullmatch(self.entry.version):
            raise ValueError(f"{self.entry.version!r} is no version")
        return f"{self.entry.number:06d}-{self.entry.version}.yaml"


def digest_of(data: bytes) -> str:
    """The SHA-256 of a text's bytes."""
    return hashlib.sha256(data).hexdigest()


def read_index(folder: Path) -> Iterator[Record]:
    """The entries whose file is there, oldest first; without a usable index from their names."""
    try:
        tree = json.loads(read_within(folder / INDEX_NAME, _MAX_INDEX_BYTES))
        listed = [*_listed(tree)]
    except (OSError, ValueError, RecursionError):
        listed = [*_by_names(folder)]
    last = 0
    for record in sorted(listed, key=lambda record: record.entry.number):
        if record.entry.number > last and _size_bytes(folder, record) == record.entry.size_bytes:
            last = record.entry.number
            yield record


def write_index(folder: Path, kept: Iterable[Record], gone: Iterable[Record]) -> None:
    """Puts down what is kept and removes the files of the rest; raises OSError or ValueError."""
    entries = [{**asdict(record.entry), "sha256": record.digest} for record in kept]
    tree = {"format": _FORMAT, "entries": entries}
    text = json.dumps(tree, ensure_ascii=False, allow_nan=False, indent=1)
    write_whole(folder / INDEX_NAME, text.encode("utf-8", "replace"))
    for record in gone:
        with suppress(OSError):
            (folder / record.file_name).unlink(missing_ok=True)
    clear_abandoned(folder, time.time())


def _listed(tree: Any) -> Iterator[Record]:
    """The well-formed entries; raises ValueError when the whole is no index."""
    if not isinstance(tree, dict) or tree.get("format") != _FORMAT:
        raise ValueError("this is no index of routing files")
    entries = tree.get("entries")
    if not isinstance(entries, list):
        raise ValueError("the index has no entries")
    for item in entries:
        record = _record(item)
        if record is not None:
            yield record


def _record(item: Any) -> Record | None:
    if not isinstance(item, dict):
        return None
    number, size_bytes = _count(item.get("number")), _count(item.get("size_bytes"))
    version, who, when_s = item.get("version"), item.get("who"), item.get("when_s")
    if number is None or size_bytes is None or not isinstance(who, str):
        return None
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        return None
    if isinstance(when_s, bool) or not isinstance(when_s, int | float):
        return None
    digest = item.get("sha256")
    known = digest if isinstance(digest, str) else None
    return Record(Entry(number, version, who, float(when_s), size_bytes), known)


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9
    return value if is_count else None


def _by_names(folder: Path) -> Iterator[Record]:
    """What the names and times of the files themselves still tell."""
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            found = _FILE_NAME.fullmatch(path.name)
            if found is not None and path.is_file() and not path.is_symlink():
                status = path.lstat()
                entry = Entry(int(found[1]), found[2], "", status.st_mtime, status.st_size)
                yield Record(entry, None)


def _size_bytes(folder: Path, record: Record) -> int | None:
    try:
        return (folder / record.file_name).lstat().st_size
    except (OSError, ValueError):
        return None

"""The files that `adopt` reads: folders, pipes and any encoding, within bounds."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import click

from gateway.adoption.reading import read_source
from gateway.adoption.sources import Sighting
from gateway.cli.diagnose import encoding_of

_MAX_BYTES: Final = 64 * 1024 * 1024
_MOST_FILES: Final = 1000
_HEAD: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that could not be read, and why."""

    file: str
    why: str


def read_all(files: tuple[Path, ...]) -> tuple[Sighting, tuple[str, ...], tuple[Unreadable, ...]]:
    """What all files show, the names of those that were read, and those that could not be.

    A folder stands for the files in it and below, at most 1000 of them; `-` for standard input.
    """
    found, names, failed = Sighting(), [], []
    for file in _spread(files):
        name = click.format_filename(file)
        try:
            text = _text(file)
        except OSError as error:
            failed.append(Unreadable(name, error.strerror or str(error)))
            continue
        names.append(name)
        found += read_source(text, name)
    return found, tuple(names), tuple(failed)


def _spread(files: tuple[Path, ...]) -> Iterator[Path]:
    for file in files:
        if str(file) != "-" and file.is_dir():
            below = sorted(path for path in file.rglob("*") if path.is_file())
            yield from below[:_MOST_FILES]
        else:
            yield file


def _text(file: Path) -> str:
    if str(file) == "-":
        return _decoded(sys.stdin.buffer)
    with file.open("rb") as stream:
        return _decoded(stream)


def _decoded(stream: BinaryIO) -> str:
    data = stream.read(_MAX_BYTES)
    return data.decode(encoding_of(data[:_HEAD]), "replace")

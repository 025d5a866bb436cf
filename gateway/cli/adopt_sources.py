"""The files that `adopt` reads: folders, pipes and any encoding, within bounds."""

import sys
from collections.abc import Iterator, Mapping
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
_YAML: Final = (".yaml", ".yml")
_MAX_CONFIG_CHARS: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sources:
    """What all files show, their names, and those that could not be read.

    `configs` are the texts of YAML files, by name, that show nothing by themselves: an engine's
    --config may mean them.
    """

    sighting: Sighting
    names: tuple[str, ...]
    failed: tuple["Unreadable", ...]
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that could not be read, and why."""

    file: str
    why: str


def read_all(files: tuple[Path, ...]) -> Sources:
    """Reads all files; a folder stands for the files in it and below, at most 1000 of them, and
    `-` for standard input."""
    found, names, failed, configs = Sighting(), [], [], {}
    for file in _spread(files):
        name = click.format_filename(file)
        try:
            text = _text(file)
        except OSError as error:
            failed.append(Unreadable(name, error.strerror or str(error)))
            continue
        names.append(name)
        seen = read_source(text, name)
        is_empty = not (seen.launches or seen.containers or seen.logs)
        if is_empty and file.suffix in _YAML and len(text) <= _MAX_CONFIG_CHARS:
            configs[file.name] = text
        found += seen
    return Sources(found, tuple(names), tuple(failed), configs)


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

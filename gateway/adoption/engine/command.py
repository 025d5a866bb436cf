"""Where the arguments of an engine begin in the command that starts it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")
_INTERPRETER_VALUES: Final = frozenset(("-X", "-W", "--check-hash-based-pycs"))
_OLD_MODULE: Final = "vllm.entrypoints.openai.api_server"
_NEW_MODULES: Final = frozenset(("vllm.entrypoints.cli.main", "vllm.scripts", "vllm"))
_OLD_SCRIPT: Final = "api_server.py"
_DEMO_FOLDER: Final = "entrypoints"
_HELP: Final = ("-h", "--help", "--help=", "-v", "--version")


class Entry(NamedTuple):
    """The words behind the entry point; `is_old` for the module that knows no `serve`."""

    words: tuple[str, ...]
    is_old: bool = False


def find_entry(argv: Sequence[str]) -> Entry | None:
    """The entry point of an engine that answers HTTP as OpenAI does; None for other commands.

    A command that only asks for help or the version starts nothing.
    """
    for entry in _entries(argv):
        if not any(word in _HELP or word.startswith("--help=") for word in entry.words):
            return entry
    return None


def _entries(argv: Sequence[str]) -> Iterator[Entry]:
    if not argv:
        return
    name = _file_name(argv[0])
    if _PYTHON.fullmatch(name):
        yield from _run_by_python(argv)
    elif name == "vllm":
        yield from _served(argv[1:])
    elif name == _OLD_SCRIPT:
        yield from _old_script(argv)


def _run_by_python(argv: Sequence[str]) -> Iterator[Entry]:
    at = 1
    while at < len(argv):
        word = argv[at]
        at += 1
        if word.startswith("-m"):
            module = word[2:] or (argv[at] if at < len(argv) else "")
            yield from _module(module, argv[at if word[2:] else at + 1 :])
            return
        if word in _INTERPRETER_VALUES:
            at += 1
        elif not word.startswith("-"):
            yield from _script(argv[at - 1 :])
            return
        elif word.startswith("-c"):
            return


def _module(module: str, words: Sequence[str]) -> Iterator[Entry]:
    if module == _OLD_MODULE:
        yield Entry(tuple(words), is_old=True)
    elif module in _NEW_MODULES:
        yield from _served(words)


def _script(argv: Sequence[str]) -> Iterator[Entry]:
    if _file_name(argv[0]) == "vllm":
        yield from _served(argv[1:])
    elif _file_name(argv[0]) == _OLD_SCRIPT:
        yield from _old_script(argv)


def _old_script(argv: Sequence[str]) -> Iterator[Entry]:
    # vllm/entrypoints/api_server.py is a demonstration that speaks no OpenAI protocol.
    if PurePosixPath(argv[0]).parent.name != _DEMO_FOLDER:
        yield Entry(tuple(argv[1:]), is_old=True)


def _served(words: Sequence[str]) -> Iterator[Entry]:
    if words and words[0] == "serve":
        yield Entry(tuple(words[1:]))


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]

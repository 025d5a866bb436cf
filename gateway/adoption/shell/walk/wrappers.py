"""Commands that run another command: `nohup`, `sudo`, `numactl` and their kin."""

import posixpath
from collections.abc import Sequence
from typing import Final

from gateway.adoption.shell.walk.inner import Inner
from gateway.adoption.shell.walk.option_scan import Scanned, scan_options
from gateway.adoption.shell.walk.terminals import (
    screen_texts,
    script_texts,
    tmux_texts,
    user_texts,
)
from gateway.adoption.shell.walk.wrapper_table import RUNNERS, WRAPPERS, Wrapper
from gateway.adoption.shell.words import split_words

_ENV_VALUED: Final = frozenset({"unset", "chdir", "split-string"})


def unwrap(words: Sequence[str]) -> tuple[Inner, ...]:
    """What a command runs in its place; empty if it is no wrapper or runs nothing."""
    name = posixpath.basename(words[0]) if words else ""
    if name == "env":
        return _unwrap_env(words)
    if name in {"su", "runuser"}:
        return user_texts(words) or _unwrap_runuser(words)
    if name == "script":
        return script_texts(words)
    if name == "screen":
        return screen_texts(words)
    if name == "tmux":
        return tmux_texts(words)
    if name in RUNNERS and words[1:2] == ["run"]:
        return _plain(words, RUNNERS[name], scan_options(words, 2, *RUNNERS[name][:2]))
    wrapper = WRAPPERS.get(name)
    if wrapper is None:
        return ()
    return _plain(words, wrapper, scan_options(words, 1, wrapper.letters, wrapper.names))


def _plain(words: Sequence[str], wrapper: Wrapper, scanned: Scanned) -> tuple[Inner, ...]:
    if any(name in wrapper.queries for name, _ in scanned.options):
        return ()
    start = scanned.end
    command = scanned.value("c", "command")
    if words[0].endswith("flock") and command is not None:
        return (Inner(0, script=command),)
    assignments: list[tuple[str, str]] = []
    for option, value in scanned.options:
        if words[0].endswith("systemd-run") and option in {"E", "setenv"}:
            assignments.append(_split(value))
    start += wrapper.operands
    while wrapper.has_assignments and start < len(words) and is_assignment(words[start]):
        assignments.append(_split(words[start]))
        start += 1
    if start >= len(words):
        return ()
    return (Inner(start, assignments=tuple(assignments), is_nohup=words[0].endswith("nohup")),)


def is_assignment(word: str) -> bool:
    """Whether a word is `NAME=value`."""
    name, sign, _ = word.partition("=")
    return bool(sign) and name.isidentifier() and name.isascii()


def _split(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value


def _unwrap_env(words: Sequence[str]) -> tuple[Inner, ...]:
    scanned = scan_options(words, 1, "uCS", _ENV_VALUED)
    start = scanned.end
    is_clean = any(name in {"i", "ignore-environment"} for name, _ in scanned.options)
    if words[start : start + 1] == ["-"]:
        is_clean = True
        start += 1
    removed = scanned.values("u", "unset")
    text = scanned.value("S", "split-string")
    if text is not None:
        try:
            inner = ("env", *split_words(text), *words[start:])
        except ValueError:
            return ()
        return (Inner(len(words), inner, removed=removed, is_clean=is_clean),)
    assignments: list[tuple[str, str]] = []
    # env takes any name here, such as one with a dot.
    while start < len(words) and "=" in words[start][1:]:
        assignments.append(_split(words[start]))
        start += 1
    if start >= len(words):
        return ()
    return (Inner(start, (), None, tuple(assignments), removed, is_clean),)


def _unwrap_runuser(words: Sequence[str]) -> tuple[Inner, ...]:
    """`runuser -u user [--] command`."""
    scanned = scan_options(words, 1, "ugGw", frozenset({"user", "group", "supp-group"}))
    if scanned.value("u", "user") is None or scanned.end >= len(words):
        return ()
    return (Inner(scanned.end),)

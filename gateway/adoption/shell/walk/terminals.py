"""Commands that hand a text to a shell elsewhere: other users, `screen`, `tmux`, `script`."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from gateway.adoption.shell.walk.inner import Inner
from gateway.adoption.shell.walk.option_scan import scan_options

_USER_NAMES: Final = frozenset({"command", "session-command", "shell", "group", "supp-group"})
# Keys that `tmux send-keys` presses, as against the text that it types.
_KEYS: Final = frozenset({"Enter", "C-m", "C-j", "KPEnter", "C-c", "C-u", "C-l", "Space", "q"})
# Subcommands that start a command, with their options that take a value (tmux 3.4).
_TMUX_STARTS: Final[Mapping[str, str]] = {
    "new-session": "ceFfnstxy",
    "new": "ceFfnstxy",
    "new-window": "ceFnt",
    "neww": "ceFnt",
    "split-window": "ceFlpt",
    "splitw": "ceFlpt",
    "respawn-pane": "cet",
    "respawn-window": "cet",
}


def user_texts(words: Sequence[str]) -> tuple[Inner, ...]:
    """`su [-] [user] -c TEXT` and the same of `runuser`; options may stand behind the user."""
    options: list[tuple[str, str]] = []
    start = 1
    while start < len(words):
        scanned = scan_options(words, start, "csgGw", _USER_NAMES)
        options.extend(scanned.options)
        is_login = words[scanned.end : scanned.end + 1] == ["-"]
        if is_login:
            options.append(("login", ""))
        start = scanned.end + 1
    text = next((v for n, v in options if n in {"c", "command", "session-command"}), None)
    if text is None:
        return ()
    is_clean = any(name in {"l", "login"} for name, _ in options)
    return (Inner(_place(words, text), script=text, is_clean=is_clean),)


def script_texts(words: Sequence[str]) -> tuple[Inner, ...]:
    """`script -c TEXT [FILE]`, which logs to FILE."""
    names = frozenset({"command", "log-io", "log-out", "log-in", "log-timing", "output-limit"})
    options: list[tuple[str, str]] = []
    files: list[str] = []
    start = 1
    while start < len(words):
        scanned = scan_options(words, start, "cBIOTmoE", names)
        options.extend(scanned.options)
        files.extend(words[scanned.end : scanned.end + 1])
        start = scanned.end + 1
    text = next((value for name, value in options if name in {"c", "command"}), None)
    if text is None:
        return ()
    logs = [value for name, value in options if name in {"O", "B", "log-out", "log-io"}]
    log_files = tuple(f for f in logs or files or ["typescript"] if not f.startswith("/dev/"))
    return (Inner(_place(words, text), script=text, log_files=log_files),)


def _place(words: Sequence[str], text: str) -> int:
    """Where the value of an option stands; it may be part of a word, as in `--command=TEXT`."""
    return next(i for i, word in enumerate(words) if word.endswith(text))


def screen_texts(words: Sequence[str]) -> tuple[Inner, ...]:
    """`screen -dmS NAME COMMAND`, and `screen -S NAME -X stuff TEXT`."""
    log_files: tuple[str, ...] = ()
    found = list(words)
    if "-Logfile" in found[:-1]:
        # The one long option that screen spells with a single dash.
        place = found.index("-Logfile")
        log_files = (found[place + 1],)
        found[place : place + 2] = ["-L", "-q"]
    scanned = scan_options(found, 1, "SceEhpsTt", frozenset())
    rest = found[scanned.end :]
    if any(name == "X" for name, _ in scanned.options):
        if len(rest) < len(("stuff", "text")) or rest[0] != "stuff":
            return ()
        return (Inner(scanned.end + 1, script=_typed_keys(rest[1]), is_elsewhere=True),)
    if not rest:
        return ()
    if any(name == "L" for name, _ in scanned.options):
        log_files = log_files or ("screenlog.0",)
    return (Inner(scanned.end, log_files=log_files, is_elsewhere=True),)


def _typed_keys(text: str) -> str:
    """What `stuff` types: `^M`, `\\r` and `\\n` are the enter key."""
    for key in ("^M", "\\015", "\\r", "\\n", "\r"):
        text = text.replace(key, "\n")
    return text


def tmux_texts(words: Sequence[str]) -> tuple[Inner, ...]:
    """What a tmux command line starts or types; it may hold several commands."""
    scanned = scan_options(words, 1, "cfLST", frozenset())
    indexes = range(scanned.end, len(words))
    texts: list[Inner] = []
    for is_border, group in groupby(indexes, key=lambda i: words[i] in {";", "\\;"}):
        if not is_border:
            texts.extend(_tmux_command(words, tuple(group)))
    return tuple(texts)


def _tmux_command(words: Sequence[str], indexes: Sequence[int]) -> Iterator[Inner]:
    name = words[indexes[0]]
    own = [words[i] for i in indexes]
    if name in {"send-keys", "send"}:
        rest = own[scan_options(own, 1, "Nt", frozenset()).end :]
        typed = "".join("\n" if word in _KEYS else word for word in rest)
        if typed.strip():
            yield Inner(indexes[-len(rest)], script=typed, is_elsewhere=True)
    elif name in _TMUX_STARTS:
        scanned = scan_options(own, 1, _TMUX_STARTS[name], frozenset())
        rest = own[scanned.end :]
        pairs = (value.partition("=") for value in scanned.values("e"))
        assignments = tuple((key, value) for key, _, value in pairs)
        if len(rest) == 1:
            start = indexes[scanned.end]
            yield Inner(start, script=rest[0], assignments=assignments, is_elsewhere=True)
        elif rest:
            yield Inner(len(words), tuple(rest), assignments=assignments, is_elsewhere=True)

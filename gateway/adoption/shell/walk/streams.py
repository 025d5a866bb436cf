"""Where the output of commands goes: files behind redirections, pipes and `tee`."""

import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from gateway.adoption.shell.expansion.expand import Expansion
from gateway.adoption.shell.expansion.values import STAND_INS
from gateway.adoption.shell.reader.redirect_reader import here_word, is_here_text
from gateway.adoption.shell.syntax import (
    HereDocument,
    Node,
    Process,
    Redirect,
    Redirected,
    Simple,
    Word,
)

_STDOUT: Final = 1
_STDERR: Final = 2
# They hand on what they read; behind others, such as grep, it is not the output any more.
_HANDING_ON: Final = frozenset({"cat", "ts", "sed", "tee"})


class Target(NamedTuple):
    """Where one stream goes: to files, and whether to the terminal."""

    files: tuple[str, ...] = ()
    is_terminal: bool = True


class Streams(NamedTuple):
    """Standard output and error, and the text that the script itself feeds in, "" for none.

    `stdin_line` is where that text begins in the source.
    """

    out: Target = Target()
    err: Target = Target()
    stdin: str = ""
    stdin_line: int = 0

    @property
    def files(self) -> tuple[str, ...]:
        """All files that get output."""
        return tuple(dict.fromkeys((*self.out.files, *self.err.files)))


def placed(path: str, directory: str) -> str:
    """A path as it is seen from anywhere, if the current directory is known."""
    if not path or path.startswith(("/", "~")) or not directory.startswith("/"):
        return path
    return posixpath.normpath(posixpath.join(directory, path))


class Plumber:
    """Follows redirections and pipes; `expansion` gives an expansion that runs nothing."""

    def __init__(self, expansion: Callable[[], Expansion], directory: Callable[[], str]) -> None:
        self._expansion = expansion
        self._directory = directory

    def __repr__(self) -> str:
        return f"Plumber(directory={self._directory()!r})"

    def redirected(self, streams: Streams, redirects: Iterable[Redirect]) -> Streams:
        """The streams behind redirections, which count from left to right."""
        for redirect in redirects:
            if is_here_text(redirect):
                if redirect.descriptor in {None, 0}:
                    streams = self._fed(streams, redirect)
            elif isinstance(redirect.target, HereDocument):
                continue
            elif redirect.operator in {"<", "<&", "<>"}:
                streams = streams._replace(stdin="")
            else:
                streams = self._output(streams, redirect)
        return streams

    def _fed(self, streams: Streams, redirect: Redirect) -> Streams:
        word = here_word(redirect)
        text = self._expansion().text(word)
        if redirect.operator == "<<<":
            text += "\n"
        return streams._replace(stdin=text, stdin_line=word.line)

    def _output(self, streams: Streams, redirect: Redirect) -> Streams:
        word = redirect.target
        if isinstance(word, HereDocument):
            return streams
        sinks = [part for part in word.parts if isinstance(part, Process)]
        expansion = self._expansion()
        name = expansion.text(word)
        if redirect.operator == ">&" and (name.isdigit() or name == "-"):
            return _duplicated(streams, redirect.descriptor or _STDOUT, name)
        if sinks:
            target = self._sink(sinks[0], streams.out)
        else:
            # Of a name with the date in it nobody knows what it was.
            is_known = all(m.name in STAND_INS for m in expansion.missing)
            target = self._file(name if is_known else "")
        if redirect.operator in {"&>", "&>>", ">&"}:
            return streams._replace(out=target, err=target)
        if redirect.descriptor == _STDERR:
            return streams._replace(err=target)
        if redirect.descriptor in {None, _STDOUT}:
            return streams._replace(out=target)
        return streams

    def _file(self, name: str) -> Target:
        if name in {"/dev/tty", "/dev/stdout", "/dev/stderr"}:
            return Target()
        if not name or name.startswith("/dev/"):
            return Target((), is_terminal=False)
        return Target((placed(name, self._directory()),), is_terminal=False)

    def _sink(self, process: Process, out: Target) -> Target:
        """What is fed to `>(...)`."""
        if len(process.body.items) != 1:
            return Target((), is_terminal=False)
        return self.piped(process.body.items[0].stages, out)

    def piped(self, stages: Sequence[Node], out: Target) -> Target:
        """Where what is piped into the first of `stages` goes, `out` being that of the last."""
        for node in reversed(stages):
            out = self._through(node, out)
        return Target(out.files, is_terminal=False)

    def _through(self, node: Node, out: Target) -> Target:
        if isinstance(node, Redirected):
            return self.redirected(Streams(out), node.redirects).out
        if not isinstance(node, Simple):
            return out
        words = [
            text
            for word in node.words
            if isinstance(word, Word)
            for text in self._expansion().fields(word)
        ]
        while words and words[0] in {"sudo", "nohup", "stdbuf", "exec"}:
            words = [w for i, w in enumerate(words) if i and (i > 1 or not w.startswith("-"))]
        if not words or words[0] not in _HANDING_ON:
            return Target((), is_terminal=False)
        out = self.redirected(Streams(out), node.redirects).out
        if words[0] != "tee":
            return out
        files = [self._file(word) for word in words[1:] if not word.startswith("-")]
        return Target(
            tuple(dict.fromkeys(f for t in (*files, out) for f in t.files)), is_terminal=False
        )


def _duplicated(streams: Streams, descriptor: int, source: str) -> Streams:
    """`2>&1` and the like."""
    target = Target((), is_terminal=False)
    if source in {"1", "2"}:
        target = streams.out if source == "1" else streams.err
    if descriptor == _STDOUT:
        return streams._replace(out=target)
    if descriptor == _STDERR:
        return streams._replace(err=target)
    return streams

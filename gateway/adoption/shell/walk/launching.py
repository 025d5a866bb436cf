"""What becomes of a command line that is no builtin: wrappers off, inner scripts read."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from gateway.adoption.codes import Code
from gateway.adoption.shell.expansion.values import Arguments
from gateway.adoption.shell.missing import Missing, names_of
from gateway.adoption.shell.walk.builtins import Argument
from gateway.adoption.shell.walk.inner import Inner
from gateway.adoption.shell.walk.record import Command, Record
from gateway.adoption.shell.walk.shell import Shell, WrittenFile
from gateway.adoption.shell.walk.shell_call import ShellCall, shell_call
from gateway.adoption.shell.walk.streams import Streams, Target, placed
from gateway.adoption.shell.walk.wrappers import unwrap

_NOHUP_FILE: Final = "nohup.out"


class Launching(NamedTuple):
    """A command line about to be launched; `missing` is what has no value in it."""

    arguments: tuple[Argument, ...]
    environment: Mapping[str, str]
    streams: Streams
    missing: tuple[Missing, ...] = ()

    @property
    def words(self) -> list[str]:
        """The command line."""
        return [argument.text for argument in self.arguments]


class InnerScript(NamedTuple):
    """A text for a shell of its own."""

    text: str
    line: int
    arguments: Arguments
    environment: Mapping[str, str]
    streams: Streams
    missing: tuple[Missing, ...]


class ScriptReader(Protocol):
    """Who reads scripts that stand in others."""

    def __call__(self, script: InnerScript) -> None:
        """Reads one."""


class Launcher:
    """Launches command lines from one shell."""

    def __init__(self, shell: Shell, record: Record, read: ScriptReader) -> None:
        self._shell = shell
        self._record = record
        self._read = read

    def __repr__(self) -> str:
        return f"Launcher({self._shell!r})"

    def path(self, name: str) -> str:
        """A file's name as the shell's own files are known by."""
        return placed(name, self._shell.directory).removeprefix("./")

    def launch(self, launching: Launching) -> None:
        """Notes the command that is run in the end, or reads the script that is."""
        waiting = [launching]
        while waiting:
            current = waiting.pop(0)
            found = unwrap(current.words)
            if not found:
                self._run(current)
            for inner in found:
                inside = self._inside(current, inner)
                if inner.script is None:
                    waiting.append(inside)
                else:
                    line = _line(current, inner.start)
                    self._script(inside, inner.script, line, Arguments("bash"))

    def _inside(self, outer: Launching, inner: Inner) -> Launching:
        if inner.words:
            line = outer.arguments[0].line
            arguments = tuple(Argument(word, line) for word in inner.words)
        else:
            arguments = outer.arguments[inner.start :]
        environment = {} if inner.is_clean else dict(outer.environment)
        for name in inner.removed:
            environment.pop(name, None)
        environment.update(inner.assignments)
        streams = Streams(stdin=outer.streams.stdin) if inner.is_elsewhere else outer.streams
        if inner.is_nohup:
            streams = _without_terminal(streams, placed(_NOHUP_FILE, self._shell.directory))
        for name in inner.log_files:
            streams = _logged(streams, placed(name, self._shell.directory))
        return Launching(arguments, environment, streams, outer.missing)

    def _run(self, launching: Launching) -> None:
        words = launching.words
        call = shell_call(words)
        if call is not None and call.text is not None:
            name = words[call.text + 1] if call.text + 1 < len(words) else words[0]
            arguments = _arguments(name, launching.arguments[call.arguments :])
            line = launching.arguments[call.text].line
            self._script(launching, words[call.text], line, arguments)
            return
        if call is not None and call.file is None and launching.streams.stdin:
            streams = launching.streams
            arguments = _arguments(words[0], launching.arguments[call.arguments :])
            self._script(launching, streams.stdin, streams.stdin_line, arguments)
            return
        path = _script_index(words, call)
        written = None if path is None else self._shell.files.get(self.path(words[path]))
        if path is None or written is None:
            self._note(launching, path)
            return
        arguments = _arguments(words[path], launching.arguments[path + 1 :])
        self._script(launching, written.text, written.line, arguments)

    def _script(self, launching: Launching, text: str, line: int, arguments: Arguments) -> None:
        self._read(
            InnerScript(
                text, line, arguments, launching.environment, launching.streams, launching.missing
            )
        )

    def _note(self, launching: Launching, script: int | None) -> None:
        words = launching.words
        line = launching.arguments[0].line
        streams = launching.streams
        if words[0].startswith("-"):
            self._record.find(Code.LINE_NOT_CONTINUED, line, {"option": words[0]})
        elif script is not None:
            self._record.find(Code.SHELL_NOT_FOLLOWED, line, {"what": words[script]})
        self._record.launch(
            Command(
                self._record.origin(line),
                tuple(words),
                launching.environment,
                streams.files,
                streams.stdin,
                names_of(launching.missing),
                streams.stdin_line,
            )
        )
        for name in _written_names(words, streams):
            written = WrittenFile(streams.stdin, streams.stdin_line)
            self._shell.files.put(self.path(name), written)


def _line(launching: Launching, index: int) -> int:
    return launching.arguments[min(index, len(launching.arguments) - 1)].line


def _arguments(name: str, rest: Sequence[Argument]) -> Arguments:
    return Arguments(name, tuple(word.text for word in rest), tuple(word.missing for word in rest))


def _script_index(words: Sequence[str], call: ShellCall | None) -> int | None:
    """The word that names a script: of `bash FILE`, or the command itself."""
    if call is not None:
        return call.file
    return 0 if words[0].endswith((".sh", ".bash")) else None


def _without_terminal(streams: Streams, file: str) -> Streams:
    """What nohup does: output to the terminal goes to a file, errors go where the output goes."""
    out = Target((file,), is_terminal=False) if streams.out.is_terminal else streams.out
    err = out if streams.err.is_terminal else streams.err
    return streams._replace(out=out, err=err)


def _logged(streams: Streams, file: str) -> Streams:
    return streams._replace(out=Target((*streams.out.files, file), is_terminal=False))


def _written_names(words: Sequence[str], streams: Streams) -> Sequence[str]:
    """The files that get a text of the script: `cat > FILE <<EOF`, `tee FILE <<EOF`."""
    if not streams.stdin:
        return ()
    if words[0] == "tee":
        return [word for word in words[1:] if not word.startswith("-")]
    if words[0] == "cat" and all(word == "-" for word in words[1:]):
        return streams.out.files[:1]
    return ()

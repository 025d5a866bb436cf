"""An engine's log, read into facts about its last start."""

import re
from collections.abc import Iterator
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.engine.log_lines import Line, read_lines
from gateway.adoption.engine.log_start import ACCESS_MARK, Start
from gateway.adoption.engine.values import shortened
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import EngineLog

_SAMPLE: Final = 131_072
_LONGEST_MESSAGE: Final = 160
_PREFIX: Final = re.compile(r"^.{0,200}?\.py:\d{1,6}\] ")
_SIGN: Final = re.compile(
    r"\b(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\s{1,4}\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,6})? "
    r"\[?[\w./-]{1,120}\.py:\d{1,6}\]"
    r"|^\((?:APIServer|EngineCore|Worker)\w{0,20} pid=\d{1,9}\) "
    r"|generation throughput: \d{1,9}\.\d tokens/s"
    r"|KV cache size: \d[\d,]{0,19} tokens\b"
    r"|Capturing [\w ]{0,40}graphs?[^:]{0,60}:\s+\d{1,3}%\|"
)

# The first line of a start, by how early it comes. A second one of the same kind, or of an earlier
# one, is that of the next start.
_OPENINGS: Final = (
    (1, ("API server version ", "vLLM server version ")),
    (2, ("non-default args", "args: Namespace(")),
)
_LOGO_OPENING: Final = re.compile(r"[▀▄█]\s{1,8}version\s")
# Printed by every process while it starts; a new start only where the last one was completed.
_REOPENINGS: Final = (
    "All plugins in this group will be loaded",
    "Automatically detected platform",
    "Using max model len",
    "LLM engine (v",
)


def looks_like_log(text: str) -> bool:
    """Whether the text is the log of a vLLM engine, judged by its beginning and its end."""
    samples = (text[:_SAMPLE], text[-_SAMPLE:] if len(text) > _SAMPLE else "")
    return any(
        _SIGN.search(line.text) is not None and not line.text.lstrip().startswith("#")
        for sample in samples
        for line in read_lines(sample)
    )


def read_log(text: str, file: str) -> tuple[EngineLog, tuple[Finding, ...]]:
    """What the log says of the engine's last start, in time linear in its length; never raises."""
    start, starts, rank = Start(Origin(file, 1)), 1, 0
    for line in read_lines(text):
        if start.is_ready and ACCESS_MARK in line.text:
            continue
        opening = _opening(line.text)
        is_next = opening > 0 and (opening <= rank or start.is_ready)
        if is_next or (start.is_ready and any(mark in line.text for mark in _REOPENINGS)):
            start, starts, rank = Start(Origin(file, line.number)), starts + 1, 0
        rank = max(rank, opening)
        start.take(line)
    return start.log, tuple(_findings(start, starts, file))


def _opening(text: str) -> int:
    for rank, marks in _OPENINGS:
        if any(mark in text for mark in marks):
            return rank
    return 1 if "version" in text and _LOGO_OPENING.search(text) else 0


def _findings(start: Start, starts: int, file: str) -> Iterator[Finding]:
    if starts > 1:
        values = {"count": str(starts), "line": str(start.origin.line)}
        yield Finding(Code.LOG_SEVERAL_STARTS, start.origin, values)
    if start.narrowed is not None:
        wanted, mode = start.narrowed
        yield Finding(Code.LOG_MODE_NARROWED, start.origin, {"wanted": wanted, "mode": mode})
    if start.thinned is not None:
        before, after = start.thinned
        yield Finding(Code.LOG_SIZES_THINNED, start.origin, {"before": before, "after": after})
    if start.capture_failure is not None:
        yield _telling(Code.LOG_CAPTURE_FAILED, start.capture_failure, file)
    if start.stop is not None:
        yield _telling(Code.LOG_STOPPED, start.stop, file)
    elif not start.is_ready and start.capture_failure is None:
        yield Finding(Code.LOG_NOT_READY, start.origin)


def _telling(code: Code, line: Line, file: str) -> Finding:
    message = shortened(_PREFIX.sub("", line.text), _LONGEST_MESSAGE)
    return Finding(code, Origin(file, line.number), {"message": message})

"""`ascend-gateway diagnose`: what the errors in a server's log mean and what helps."""

import codecs
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import click

from gateway.cli.language import language_option
from gateway.diagnosis.match import MAX_READ, Finding, Matcher
from gateway.diagnosis.signatures import Scope
from gateway.words import Language, Words

_BLOCK: Final = 1 << 16

_SCOPES: Final[Mapping[Scope, Words]] = MappingProxyType(
    {
        Scope.STARTUP: Words("the server does not start", "服务无法启动"),
        Scope.ENGINE: Words("the engine dies; start it again", "引擎崩溃，需要重启服务"),
        Scope.REQUEST: Words("only this request fails", "只影响该请求"),
        Scope.DEGRADED: Words("the server works, but badly", "服务可用，但性能下降"),
        Scope.BENIGN: Words("harmless", "无害，可忽略"),
    }
)
_FINDING: Final = Words(
    "{id} ({layer}): {scope}\n  cause: {cause}\n  remedy: {remedy}",
    "{id}（{layer}）：{scope}\n  原因：{cause}\n  处理：{remedy}",
)
_FALLOUT: Final = Words(
    "{id} ({layer}), fallout: {scope}\n  cause: {cause}\n  remedy: {remedy}",
    "{id}（{layer}），连带错误：{scope}\n  原因：{cause}\n  处理：{remedy}",
)
_TIMES: Final = Words(" (on {count} lines)", "（共 {count} 行）")
_NOTHING: Final = Words(
    "{file}: no known error; lines read: {lines}",
    "{file}：没有已知错误；读取行数：{lines}",
)
_ONLY_FALLOUT: Final = Words(
    "Only fallout was found; the cause is in an earlier line or in the log of another process.",
    "只找到连带错误；原因在更早的日志里，或在另一个进程的日志里。",
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@language_option
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print."
)
@click.pass_context
def diagnose(ctx: click.Context, file: Path, language: Language, form: str) -> None:
    """Explain the errors in FILE, the log of a vLLM server; - reads standard input.

    Causes come first, then what only follows from them.

    Exit status: 0 when there is no known error (or harmless ones only), 1 when there is one, 2
    when FILE can't be read.
    """
    matcher = Matcher()
    name = click.format_filename(file)
    try:
        _read(file, matcher)
    except OSError as error:
        click.echo(f"{name}: can't be read: {error.strerror or error}", err=True)
        ctx.exit(2)
    findings = matcher.findings()
    if form == "json":
        click.echo(_as_json(findings, language, name, matcher.lines))
    else:
        click.echo(_as_text(findings, language, name, matcher.lines))
    is_clean = all(finding.signature.scope is Scope.BENIGN for finding in findings)
    ctx.exit(0 if is_clean else 1)


def _read(file: Path, matcher: Matcher) -> None:
    """Feeds the matcher with the lines of a file or of standard input."""
    if str(file) == "-":
        _feed(sys.stdin.buffer, matcher)
        return
    with file.open("rb") as stream:
        _feed(stream, matcher)


def _feed(stream: BinaryIO, matcher: Matcher) -> None:
    for line in lines_of(stream):
        matcher.feed(line)


def lines_of(stream: BinaryIO) -> Iterator[str]:
    """The lines of a log in any encoding; of a line without end only the beginning is kept."""
    block = _fill(stream)
    decoder = codecs.getincrementaldecoder(encoding_of(block))(errors="replace")
    rest = ""
    is_overlong = False
    while block:
        *lines, rest = (rest + decoder.decode(block)).split("\n")
        for line in lines:
            if not is_overlong:
                yield line
            is_overlong = False
        if len(rest) >= MAX_READ:
            if not is_overlong:
                yield rest
            is_overlong = True
            rest = ""
        block = stream.read(_BLOCK)
    rest += decoder.decode(b"", final=True)
    if rest and not is_overlong:
        yield rest


def encoding_of(head: bytes) -> str:
    """The encoding of a log by its first bytes: UTF-8 unless they can't be."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            codecs.getincrementaldecoder(encoding)().decode(head)
        except UnicodeDecodeError:
            continue
        return encoding
    return "utf-8"


def _fill(stream: BinaryIO) -> bytes:
    """The first 64 kB, also of a pipe that hands out less at a time."""
    head = b""
    while len(head) < _BLOCK and (piece := stream.read(_BLOCK - len(head))):
        head += piece
    return head


def _as_text(findings: tuple[Finding, ...], language: Language, file: str, lines: int) -> str:
    if not findings:
        return _NOTHING.spoken(language).format(file=file, lines=lines)
    parts = [_entry(finding, language, file) for finding in findings]
    if all(finding.is_fallout for finding in findings):
        parts.append(_ONLY_FALLOUT.spoken(language))
    return "\n\n".join(parts)


def _entry(finding: Finding, language: Language, file: str) -> str:
    signature = finding.signature
    template = _FALLOUT if finding.is_fallout else _FINDING
    entry = template.spoken(language).format(
        id=signature.id,
        layer=signature.layer,
        scope=_SCOPES[signature.scope].spoken(language),
        cause=signature.cause.spoken(language),
        remedy=signature.remedy.spoken(language),
    )
    times = _TIMES.spoken(language).format(count=finding.count) if finding.count > 1 else ""
    return f"{entry}\n  {file}:{finding.line_number}{times}: {finding.line}"


def _as_json(findings: tuple[Finding, ...], language: Language, file: str, lines: int) -> str:
    found: list[dict[str, Any]] = [
        {
            "id": finding.signature.id,
            "scope": finding.signature.scope.value,
            "layer": finding.signature.layer,
            "fallout": finding.is_fallout,
            "capture": finding.signature.is_capture,
            "cause": finding.signature.cause.spoken(language),
            "remedy": finding.signature.remedy.spoken(language),
            "line_number": finding.line_number,
            "line": finding.line,
            "count": finding.count,
        }
        for finding in findings
    ]
    report = {"file": file, "lines": lines, "findings": found}
    return json.dumps(report, indent=2, ensure_ascii=False)

"""The door: the text of a source of any kind -> what it shows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.containers.cluster_objects import is_cluster_object
from gateway.adoption.containers.compose import read_compose
from gateway.adoption.containers.compose_services import is_compose
from gateway.adoption.containers.dockerfile import read_dockerfile
from gateway.adoption.containers.following import Followed, follow_text
from gateway.adoption.containers.inspected import is_inspected, read_inspected
from gateway.adoption.containers.kubernetes import read_kubernetes
from gateway.adoption.containers.manifest import (
    Document,
    ManifestError,
    read_documents,
    read_json,
)
from gateway.adoption.containers.noticed import noticed, once
from gateway.adoption.containers.processes import read_processes
from gateway.adoption.containers.quadlet import read_quadlet
from gateway.adoption.containers.source_kind import Kind, kind_of
from gateway.adoption.containers.systemd import read_service
from gateway.adoption.containers.transcript import (
    MAX_BLOCKS,
    Block,
    blocks_in,
    with_leaves,
    without_prompts,
)
from gateway.adoption.containers.unit_file import read_unit
from gateway.adoption.engine.log import looks_like_log, read_log
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.shell.script import read_script
from gateway.adoption.sources import Sighting

MAX_CHARS: Final = 16_000_000
"""A longer source is only read if it is a log."""

MAX_DEPTH: Final = 3
"""How deep texts within texts are read: a manifest in a script in a Markdown block."""

_IN_BLOCKS: Final = (Kind.YAML, Kind.JSON, Kind.UNIT, Kind.DOCKERFILE, Kind.PROCESSES)
_OPTIONS_ONLY: Final = re.compile(r"(?:\s|#.*\n)*-")
_EXPORT: Final = re.compile(r"^\s*export\s+\w+=", re.MULTILINE)
_TEMPLATE: Final = re.compile(
    r"\{\{-?\s*(?:[.$]|include\b|if\b|end\b|range\b|with\b|toYaml\b|tpl\b|template\b|define\b)"
)


def read_source(text: str, file: str) -> Sighting:
    """Everything that one source shows of engines and containers; never raises.

    It may be a shell script, a single command or a transcript of commands, a Compose file,
    Kubernetes in YAML or JSON, a systemd or quadlet unit, a Dockerfile, what `docker inspect` or
    `ps` print, an engine's log, or Markdown with any of these in its code blocks. The kind is seen
    from the text; `file` names the source in all findings. Where nothing is found, a finding says
    so.
    """
    text = text.removeprefix("\ufeff")
    found = _read(text, file, 0)
    findings = once(found.findings)
    if not (found.launches or found.containers or found.logs):
        findings = (*findings, noticed(Code.NOTHING_FOUND, Origin(file)))
    return replace(found, findings=findings)


def _read(text: str, file: str, depth: int) -> Sighting:
    if len(text) > MAX_CHARS and not looks_like_log(text):
        return _cut(f"more than {MAX_CHARS} characters", file)
    kind = kind_of(text, file)
    if kind is not Kind.LOG and "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        return Sighting(findings=(noticed(Code.SOURCE_UNREADABLE, Origin(file, line)),))
    if kind is Kind.MARKDOWN:
        return _markdown(text, file, depth)
    if kind is Kind.SHELL:
        typed = _typed(text, file)
        return _shell(follow_text(typed, file), file, depth)
    return _plain(kind, text, file)


def _typed(text: str, file: str) -> str:
    """The commands of a transcript; scripts stay as they are."""
    if text.startswith("#!") or file.endswith((".sh", ".bash")):
        return text
    typed = without_prompts(text)
    return text if typed == text else with_leaves(typed)


def _plain(kind: Kind, text: str, file: str) -> Sighting:
    """A source that holds no other sources."""
    if kind is Kind.LOG:
        log, findings = read_log(text, file)
        return Sighting(logs=(log,), findings=tuple(findings))
    if kind is Kind.UNIT:
        unit = read_unit(text)
        return (
            read_quadlet(unit, file) if unit.has_section("Container") else read_service(unit, file)
        )
    if kind is Kind.DOCKERFILE:
        return read_dockerfile(text, file)
    if kind is Kind.PROCESSES:
        return read_processes(text, file)
    return _json(text, file) if kind is Kind.JSON else _yaml(text, file)


def _shell(followed: Followed, file: str, depth: int) -> Sighting:
    """What a script starts, and what the texts are that it writes to files or hands to programs.

    A script that is written and then run is known already with the variables of its caller.
    """
    found = followed.sighting
    if depth >= MAX_DEPTH:
        return found
    for written in followed.written:
        known = {launch.origin for launch in found.launches}
        inner = _read("\n" * (written.line - 1) + written.text, file, depth + 1)
        launches = tuple(launch for launch in inner.launches if launch.origin not in known)
        if launches or inner.containers:
            found += replace(inner, launches=launches)
    return found


def _markdown(text: str, file: str, depth: int) -> Sighting:
    """The code blocks; those with commands are one script, as exports often stand by themselves."""
    found = Sighting()
    lines = [""] * (text.count("\n") + 1)
    for number, block in enumerate(blocks_in(text), 1):
        if number == MAX_BLOCKS:
            found += _cut(f"more than {MAX_BLOCKS} code blocks", file)
        kind = _kind_of_block(block, file)
        if kind is Kind.SHELL:
            typed = with_leaves(without_prompts(block.text))
            followed = follow_text(typed, file, first_line=block.line)
            if not _is_script(block, typed, followed):
                continue
            if _is_whole(typed):
                for index, line in enumerate(typed.split("\n"), block.line - 1):
                    lines[index] = line
            else:
                found += _shell(followed, file, depth)
        elif kind in _IN_BLOCKS:
            found += _plain(kind, "\n" * (block.line - 1) + block.text, file)
    return found + _shell(follow_text("\n".join(lines), file), file, depth)


def _cut(problem: str, file: str) -> Sighting:
    """That there is more than is read."""
    return Sighting(findings=(noticed(Code.MANIFEST_TOO_LARGE, Origin(file), problem=problem),))


def _is_script(block: Block, typed: str, followed: Followed) -> bool:
    """Whether a block holds commands: not only options to add, and not output of no known kind."""
    if _OPTIONS_ONLY.match(typed):
        return False
    sighting = followed.sighting
    has_starts = bool(sighting.launches or sighting.containers or followed.written)
    return block.kind == "shell" or has_starts or _EXPORT.search(typed) is not None


def _kind_of_block(block: Block, file: str) -> Kind:
    """By what the block holds; the name of the Markdown file says nothing of it."""
    found = kind_of(block.text, "")
    if block.kind == "yaml" and found is not Kind.JSON:
        return Kind.YAML
    return found


def _is_whole(text: str) -> bool:
    """Whether every quote in a block is closed, so that it can't swallow the next block."""
    codes = {finding.code for finding in read_script(text, "").findings}
    return not codes & {Code.QUOTE_UNCLOSED, Code.SHELL_SYNTAX}


def _json(text: str, file: str) -> Sighting:
    try:
        document = read_json(text)
    except ManifestError as error:
        return Sighting(findings=(_unreadable(error, file),))
    if is_inspected(document.tree):
        return read_inspected(document, file)
    return _manifests((document,), file)


def _yaml(text: str, file: str) -> Sighting:
    """Manifests; a text that a template engine is yet to fill in is only told to be one."""
    documents, errors = read_documents(text)
    template = _TEMPLATE.search(text)
    if "{{" in text and (errors or any(document.is_template for document in documents)):
        at = template.start() if template else text.index("{{")
        return Sighting(findings=(_template(text, at, file),))
    found = _manifests(documents, file)
    if template is not None:
        launches = tuple(
            one for one in found.launches if not any(_TEMPLATE.search(word) for word in one.argv)
        )
        findings = (*found.findings, _template(text, template.start(), file))
        found = replace(found, launches=launches, findings=findings)
    return found + Sighting(findings=tuple(_unreadable(error, file) for error in errors))


def _manifests(documents: Sequence[Document], file: str) -> Sighting:
    """A file holds manifests of Kubernetes or of Compose; what is neither is passed over."""
    cluster: list[Document] = []
    compose: list[Document] = []
    for document in documents:
        if is_cluster_object(document.tree):
            cluster.append(document)
        elif is_compose(document.tree):
            compose.append(document)
    found = read_kubernetes(cluster, file) + read_compose(compose, file)
    return found + Sighting(findings=tuple(_keys_twice((*cluster, *compose), file)))


def _keys_twice(documents: Sequence[Document], file: str) -> Iterator[Finding]:
    for document in documents:
        for key, line in document.twice:
            yield noticed(Code.KEY_TWICE, Origin(file, line), key=key)


def _template(text: str, at: int, file: str) -> Finding:
    line = text.count("\n", 0, at) + 1
    written = text[at:].split("\n", 1)[0].partition("}}")
    shown = (written[0] + written[1])[:80]
    return noticed(Code.TEMPLATE_NOT_RENDERED, Origin(file, line), template=shown)


def _unreadable(error: ManifestError, file: str) -> Finding:
    code = Code.MANIFEST_TOO_LARGE if error.is_too_large else Code.MANIFEST_UNREADABLE
    return noticed(code, Origin(file, error.line), problem=error)

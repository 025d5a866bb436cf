"""The services of Compose files: variables filled in, `extends` and later documents merged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.containers.interpolation import Interpolated, interpolate
from gateway.adoption.containers.manifest import Document, Path, Tree
from gateway.adoption.containers.noticed import noticed, once
from gateway.adoption.containers.trees import at, items, mapping, pairs, text
from gateway.adoption.findings import Finding, Origin

MAX_EXTENDS: Final = 8

_REPLACED: Final = frozenset({"command", "entrypoint", "profiles", "env_file"})
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Service:
    """One service: its fields, its line, the line of its command, and what was noticed in it."""

    name: str
    fields: Mapping[str, Tree]
    line: int
    command_line: int
    findings: tuple[Finding, ...] = ()


def is_compose(tree: Tree) -> bool:
    """Whether a tree is a Compose file, of version 1 too, where services stand at the top."""
    if "apiVersion" in mapping(tree) or "kind" in mapping(tree):
        return False
    if isinstance(at(tree, "services"), dict):
        return True
    return any(_is_old_service(value) for value in mapping(tree).values())


def services_of(documents: Sequence[Document], file: str) -> tuple[Service, ...]:
    """All services with everything that they inherit; a later document overrides an earlier one."""
    found: dict[str, Service] = {}
    for document in documents:
        for service in _services(document, file):
            earlier = found.get(service.name)
            found[service.name] = _merged(earlier, service) if earlier else service
    return tuple(_extended(service, found, file, ()) for service in found.values())


def _is_old_service(tree: Tree) -> bool:
    return isinstance(tree, dict) and ("image" in tree or "build" in tree)


def _services(document: Document, file: str) -> Iterator[Service]:
    given = at(document.tree, "services")
    path: Path = ("services",) if isinstance(given, dict) else ()
    found = mapping(given) if path else mapping(document.tree)
    for name, tree in found.items():
        if not isinstance(tree, dict) or (not path and not _is_old_service(tree)):
            continue
        filler = _Filler(document, file)
        fields = {key: filler.fill(value, (*path, name, key)) for key, value in tree.items()}
        yield Service(
            name,
            fields,
            document.line((*path, name)),
            _command_line(document, (*path, name), tree),
            once(filler.findings),
        )


def _command_line(document: Document, path: Path, tree: Mapping[str, Tree]) -> int:
    """Where the command's text begins, or that of the script within it; 0 without a command."""
    for key in ("command", "entrypoint"):
        if not tree.get(key):
            continue
        for index, item in enumerate(items(tree[key])):
            if document.is_block((*path, key, index)) or "\n" in text(item):
                return document.text_line((*path, key, index))
        return document.text_line((*path, key))
    return 0


class _Filler:
    """Fills in variables, and notes those without a value or with one from the file."""

    __slots__ = ("_document", "_file", "findings")

    def __init__(self, document: Document, file: str) -> None:
        self._document = document
        self._file = file
        self.findings: list[Finding] = []

    def __repr__(self) -> str:
        return f"<_Filler of {self._file}, {len(self.findings)} findings>"

    def fill(self, tree: Tree, path: Path) -> Tree:
        if isinstance(tree, dict):
            return {key: self.fill(value, (*path, key)) for key, value in tree.items()}
        if isinstance(tree, list):
            return [self.fill(item, (*path, index)) for index, item in enumerate(tree)]
        if tree is None or "$" not in tree:
            return tree
        done = interpolate(tree, _NOTHING)
        origin = Origin(self._file, self._document.line(path))
        for name in done.unset:
            self.findings.append(noticed(Code.VARIABLE_UNSET, origin, variable=name))
        for name, value in done.defaults:
            if value:
                self.findings.append(
                    noticed(Code.VARIABLE_DEFAULT, origin, variable=name, value=value)
                )
        return _known_part(done, path)


def _known_part(done: Interpolated, path: Path) -> Tree:
    """The text; nothing where all of it is unknown, since a `.env` file may well hold it."""
    if done.unset and not done.text:
        return None
    if done.unset and done.text.endswith("=") and "environment" in path:
        return done.text[:-1]
    return done.text


def _extended(
    service: Service, services: Mapping[str, Service], file: str, chain: tuple[str, ...]
) -> Service:
    """The service with what it takes from the one that it extends."""
    given = service.fields.get("extends")
    if not given:
        return service
    base_file = text(at(given, "file"))
    name = text(given) or text(at(given, "service"))
    if base_file and base_file.rpartition("/")[2] != file.rpartition("/")[2]:
        origin = Origin(file, service.line)
        finding = noticed(Code.FILE_NOT_FOLLOWED, origin, what=service.name, file=base_file)
        return replace(service, findings=(*service.findings, finding))
    base = services.get(name)
    if base is None or name in chain or name == service.name or len(chain) > MAX_EXTENDS:
        return service
    return _merged(_extended(base, services, file, (*chain, service.name)), service)


def _merged(base: Service, service: Service) -> Service:
    fields = dict(base.fields)
    for key, value in service.fields.items():
        fields[key] = _merged_field(key, fields.get(key), value)
    return Service(
        service.name,
        fields,
        service.line,
        service.command_line or base.command_line,
        once((*base.findings, *service.findings)),
    )


def _merged_field(key: str, base: Tree, own: Tree) -> Tree:
    """How Compose merges: mappings by key, lists one behind the other, the rest is replaced."""
    if key in _REPLACED or base is None:
        return own
    if key == "environment":
        return {**pairs(base), **pairs(own)}
    if isinstance(base, dict) and isinstance(own, dict):
        return {
            **base,
            **{name: _merged_field(name, base.get(name), value) for name, value in own.items()},
        }
    if isinstance(base, list) and isinstance(own, list):
        return [*base, *(item for item in own if item not in base)]
    return own

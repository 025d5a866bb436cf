"""What kind of source a text is, by what it holds; its file's name only decides in doubt."""

import json
import re
from enum import Enum, auto
from typing import Final

from gateway.adoption.containers.dockerfile import looks_like_dockerfile
from gateway.adoption.containers.processes import looks_like_processes
from gateway.adoption.containers.transcript import looks_like_markdown
from gateway.adoption.engine.log import looks_like_log

MAX_JSON_CHARS: Final = 16_000_000

_YAML_KEYS: Final = (
    "apiVersion|kind|metadata|services|version|name|include|networks|volumes|configs|secrets"
)
_YAML: Final = re.compile(
    rf"^(?:---(?:\s|$)|%YAML|\{{\{{|x-[\w-]+\s*:|['\"]?(?:{_YAML_KEYS})['\"]?\s*:(?:\s|$))"
)
_SECTION: Final = re.compile(r"^\[(?:Unit|Service|Container|Install|Pod|Kube|Volume|Network)\]$")


class Kind(Enum):
    """What a source is."""

    SHELL = auto()
    JSON = auto()
    YAML = auto()
    LOG = auto()
    UNIT = auto()
    DOCKERFILE = auto()
    MARKDOWN = auto()
    PROCESSES = auto()


def kind_of(text: str, file: str) -> Kind:
    """The kind of a source; what is nothing else is taken for shell commands."""
    name = file.rpartition("/")[2].lower()
    first = _first_line(text)
    if text.startswith("#!"):
        return Kind.SHELL
    if first.lstrip().startswith(("{", "[")) and _is_json(text):
        return Kind.JSON
    if name.endswith((".md", ".markdown")):
        return Kind.MARKDOWN
    if looks_like_log(text):
        return Kind.LOG
    if _SECTION.match(first):
        return Kind.UNIT
    if looks_like_dockerfile(text):
        return Kind.DOCKERFILE
    if _YAML.match(first) or (name.endswith((".yaml", ".yml")) and ":" in text):
        return Kind.YAML
    if not name.endswith((".sh", ".bash")) and looks_like_markdown(text):
        return Kind.MARKDOWN
    return Kind.PROCESSES if looks_like_processes(text) else Kind.SHELL


def _first_line(text: str) -> str:
    """The first line that is neither empty nor a comment."""
    for line in text[:65_536].split("\n"):
        if (stripped := line.rstrip()) and not stripped.lstrip().startswith(("#", ";")):
            return stripped
    return ""


def _is_json(text: str) -> bool:
    if len(text) > MAX_JSON_CHARS:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True

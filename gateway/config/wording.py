"""What pydantic refused, in words for the people who wrote the file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gateway.config.problems import Code, Finding, Path
from gateway.config.schema import (
    BackendConfig,
    BackendRef,
    EndpointSwitches,
    HealthConfig,
    Limits,
    ModelConfig,
    QueueConfig,
    RecoveryConfig,
    RoutingConfig,
    Timeouts,
    TlsConfig,
)

_RECORDS: Final[Mapping[str, type[BaseModel]]] = MappingProxyType(
    {
        "tls": TlsConfig,
        "limits": Limits,
        "timeouts": Timeouts,
        "health": HealthConfig,
        "recovery": RecoveryConfig,
        "queue": QueueConfig,
    }
)
_SPOKEN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "address": "url",
        "base_url": "url",
        "endpoint": "url",
        "host": "url",
        "model": "served_name",
        "served_model_name": "served_name",
        "model_path": "root",
        "path": "root",
        "tp": "tensor_parallel",
        "tensor_parallel_size": "tensor_parallel",
        "devices": "npus",
        "npu": "npus",
        "npu_ids": "npus",
        "cudagraph_capture_sizes": "capture_sizes",
        "context": "max_model_len",
        "quantisation": "quantization",
        "mode": "tier",
        "key": "api_key_env",
        "fallbacks": "fallback_models",
        "fallback": "fallback_models",
        "disabled": "enabled",
    }
)
_KINDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "string_type": ("a text", "Put the value in quotes."),
        "int_type": ("a whole number", "Write a number without quotes and without a point."),
        "float_type": ("a number", "Write a number without quotes."),
        "bool_type": ("true or false", "Write true or false, without quotes."),
        "tuple_type": ("a list", "Write [a, b], or one line per item, each with a leading '- '."),
        "model_type": ("a mapping", "Write fields below it, each as `name: value`."),
        "dict_type": ("a mapping", "Write fields below it, each as `name: value`."),
    }
)


def refused(error: ValidationError, record: type[BaseModel], base: Path) -> Iterator[Finding]:
    """One finding for each thing pydantic refused in `record`, which stands at `base`."""
    for detail in error.errors(include_url=False):
        yield _finding(detail, record, base)


def closest(word: str, known: Sequence[str]) -> str | None:
    """The known word that was most likely meant, if one is near."""
    folded = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def meant(word: str, known: Sequence[str], otherwise: str) -> str:
    """A remedy: the near word if there is one, and the known words (at most ten)."""
    known = [name for name in known if name and name.isprintable()]
    near = closest(word, known)
    if near is not None:
        return f"Did you mean {near!r}?"
    if not known:
        return otherwise
    more = ", ..." if len(known) > 10 else ""
    return f"{otherwise} Known: {', '.join(known[:10])}{more}."


def _finding(detail: ErrorDetails, record: type[BaseModel], base: Path) -> Finding:
    kind = detail["type"]
    inner: Path = tuple(step for step in detail["loc"] if step != "[key]")
    path = (*base, *inner)
    name = repr(path[-1]) if path and isinstance(path[-1], str) else "this entry"
    context: dict[str, Any] = detail.get("ctx") or {}
    if kind == "routing":
        return Finding(Code(context["code"]), path, context["message"], context["remedy"])
    if kind == "missing":
        return Finding(
            Code.MISSING_FIELD, path, f"{name} is missing or empty", _what(record, inner)
        )
    if kind == "extra_forbidden":
        return _unknown(str(path[-1]), record, inner, path)
    if kind in ("enum", "literal_error"):
        return _choice(detail, path, str(context.get("expected", "")))
    if kind in ("greater_than", "greater_than_equal", "less_than_equal", "finite_number"):
        return _number(detail, path, kind, context)
    if kind == "string_too_short":
        return Finding(Code.BAD_TEXT, path, f"{name} is empty", "Give a value or remove it.")
    wanted, remedy = _KINDS.get(kind, ("something else", "Correct the value."))
    is_secret = bool(path) and str(path[-1]).startswith("api_key")
    instead = "" if is_secret else f", not {_shown(detail['input'])}"
    message = f"{name} must be {wanted}{instead}"
    return Finding(Code.WRONG_TYPE, path, message, remedy)


def _number(detail: ErrorDetails, path: Path, kind: str, context: Mapping[str, Any]) -> Finding:
    bounds = {
        "greater_than": f"greater than {context.get('gt', 0):g}",
        "greater_than_equal": f"{context.get('ge', 0):g} or greater",
        "less_than_equal": f"{context.get('le', 0)} or less",
        "finite_number": "a finite number",
    }
    return Finding(
        Code.BAD_NUMBER,
        path,
        f"{_shown(detail['input'])} is impossible here; it must be {bounds[kind]}",
        "Correct the number, or remove the field for the default.",
    )


def _choice(detail: ErrorDetails, path: Path, expected: str) -> Finding:
    allowed = re.findall(r"'([^']*)'", expected) or [expected]
    return Finding(
        Code.BAD_CHOICE,
        path,
        f"{_shown(detail['input'])} is none of the allowed values",
        meant(str(detail["input"]), allowed, "Use one of the allowed values."),
    )


def _unknown(name: str, record: type[BaseModel], inner: Path, path: Path) -> Finding:
    owner = _owner(record, inner)
    if name == "api_key" and owner is BackendConfig:
        return Finding(
            Code.INLINE_API_KEY,
            path,
            "a key must not stand in the file: routing files are shown, copied and committed",
            "Put it into an environment variable or a file and name that with api_key_env or "
            "api_key_file; then change the key, since it was written down.",
        )
    fields = list(owner.model_fields)
    spoken = _SPOKEN.get(name)
    remedy = f"Did you mean {spoken!r}?" if spoken in fields else meant(name, fields, "Remove it.")
    return Finding(Code.UNKNOWN_FIELD, path, f"there is no field {name!r} here", remedy)


def _owner(record: type[BaseModel], inner: Path) -> type[BaseModel]:
    if len(inner) < 2:
        return record
    if record is ModelConfig and inner[0] == "backends":
        return BackendRef
    if record is RoutingConfig and inner[0] == "endpoints":
        return EndpointSwitches
    return _RECORDS.get(str(inner[0]), record)


def _what(record: type[BaseModel], inner: Path) -> str:
    field = _owner(record, inner).model_fields.get(str(inner[-1]))
    return f"Add it: {field.description}" if field and field.description else "Add it."


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

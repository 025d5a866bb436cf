"""Flags for the process settings, made from the settings themselves."""

import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, Final, TypeVar, get_args, get_origin

import click
from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from gateway.settings import ENV_PREFIX, Settings, unknown_variables

F = TypeVar("F", bound=Callable[..., object])

# Any: click's ParamType is generic in newer versions only.
_NUMBERS: Final[Mapping[type, Any]] = MappingProxyType({int: click.INT, float: click.FLOAT})


def settings_options(command: F) -> F:
    """A decorator: one flag per setting that may stand on a command line; unset ones are None."""
    for name, field in reversed(Settings.model_fields.items()):
        if not holds_secret(field):
            command = _option(name, field)(command)
    return command


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Settings from the flags that were given, the environment and the defaults.

    Misspelt variables are warned of on stderr. Raises click.UsageError with everything wrong.
    """
    for variable in unknown_variables(os.environ):
        click.echo(f"warning: {variable} is no setting and has no effect", err=True)
    try:
        return Settings(**{name: value for name, value in values.items() if value is not None})
    except ValidationError as error:
        raise click.UsageError("\n".join(settings_problems(error))) from error


def settings_problems(error: ValidationError) -> list[str]:
    """What is wrong with the settings, a line each, without any value that was given."""
    lines = []
    for detail in error.errors(include_url=False, include_input=False):
        message = detail["msg"].removeprefix("Value error, ")
        if not detail["loc"]:
            lines.append(message)
            continue
        name = str(detail["loc"][0])
        lines.append(f"{ENV_PREFIX}{name.upper()} or {flag_of(name)}: {message}")
    return lines


def flag_of(name: str) -> str:
    """The flag of a setting."""
    return f"--{name.replace('_', '-')}"


def holds_secret(field: FieldInfo) -> bool:
    """Whether the setting is a secret, which must not stand on a command line."""
    return SecretStr in _types(field.annotation)


def default_text(field: FieldInfo) -> str:
    """The default value as it would be written."""
    value = field.default
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def _types(annotation: Any) -> list[Any]:
    """The plain types in an annotation such as `tuple[SecretStr, ...] | None`."""
    if isinstance(annotation, UnionType) or get_origin(annotation) is not None:
        return [kind for part in get_args(annotation) for kind in _types(part)]
    return [annotation]


def _option(name: str, field: FieldInfo) -> Callable[[F], F]:
    kind = next(k for k in _types(field.annotation) if k is not type(None))
    default = default_text(field)
    text = f"{field.description} [default: {default}]" if default else field.description
    flag = flag_of(name)
    if kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=text)
    return click.option(flag, name, default=None, help=text, type=_param_type(name, kind))


def _param_type(name: str, kind: type) -> Any:
    if issubclass(kind, StrEnum):
        return click.Choice([member.value for member in kind])
    if issubclass(kind, Path):
        is_folder = name.endswith("_dir")
        return click.Path(path_type=Path, file_okay=not is_folder, dir_okay=is_folder)
    return _NUMBERS.get(kind, click.STRING)

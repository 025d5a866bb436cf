"""The kinds of values a routing file holds, and what each refuses with which remedy."""

import re
import unicodedata
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StrictBool
from pydantic_core import PydanticCustomError

from gateway.config.url import UrlProblem, parse_backend_url

_BACKEND_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_NAME_CHARS: Final = 512
MAX_COUNT: Final = 2**53
"""Above it floats, and many readers of JSON, lose whole numbers; nothing here comes near it."""


def refuse(code: str, message: str, remedy: str) -> PydanticCustomError:
    """An error that carries its stable code and remedy through pydantic."""
    return PydanticCustomError(  # type: ignore[type-abstract,unused-ignore]
        "routing", "{message}", {"code": code, "message": message, "remedy": remedy}
    )


def as_tuple(value: object) -> object:
    """YAML gives lists where the records hold tuples."""
    return tuple(value) if isinstance(value, list) else value


def _name(value: str) -> str:
    if not _BACKEND_NAME.fullmatch(value):
        raise refuse(
            "bad_backend_name",
            f"{value!r} can't be the name of a backend",
            "Use only letters, digits, dot, underscore and hyphen.",
        )
    return value


def plain_text(value: str) -> str:
    """The value, when it can be shown on one line; raises an error of pydantic otherwise."""
    if not value or value != value.strip():
        raise refuse(
            "bad_text",
            f"{value!r} is empty or begins or ends with white space",
            "Give a value without white space around it, or remove the field.",
        )
    if any(unicodedata.category(ch) in ("Cc", "Cs") for ch in value):
        raise refuse(
            "bad_text", f"{value!r} has control characters in it", "Remove the control characters."
        )
    return value


def _public_name(value: str) -> str:
    plain_text(value)
    if len(value) > MAX_NAME_CHARS:
        raise refuse(
            "bad_model_name",
            f"the name is {len(value)} characters long",
            f"Use at most {MAX_NAME_CHARS} characters.",
        )
    return value


def _url(value: str) -> str:
    try:
        parse_backend_url(value)
    except UrlProblem as problem:
        raise refuse("bad_url", str(problem), problem.remedy) from problem
    return value


def _variable(value: str) -> str:
    if not _VARIABLE.fullmatch(value):
        raise refuse(
            "bad_variable_name",
            "the value of api_key_env is not the name of an environment variable",
            "Give the variable's name (letters, digits, underscore), never the key itself.",
        )
    return value


Flag = StrictBool
Count = Annotated[int, Field(strict=True, gt=0, le=MAX_COUNT)]
NpuId = Annotated[int, Field(strict=True, ge=0, le=MAX_COUNT)]
PositiveNumber = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Text = Annotated[str, Field(strict=True), AfterValidator(plain_text)]
Name = Annotated[str, Field(strict=True), AfterValidator(_name)]
PublicName = Annotated[str, Field(strict=True), AfterValidator(_public_name)]
Url = Annotated[str, Field(strict=True), AfterValidator(_url)]
VariableName = Annotated[str, Field(strict=True), AfterValidator(_variable)]

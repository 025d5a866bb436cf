"""The kinds of values a routing file holds, and what each refuses with which remedy."""

import re
import unicodedata
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StrictBool
from pydantic_core import PydanticCustomError

from gateway.config.url import UrlProblem, parse_backend_url
from gateway.words import Words

_BACKEND_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_NAME_CHARS: Final = 512
MAX_COUNT: Final = 2**53
"""Above it floats, and many readers of JSON, lose whole numbers; nothing here comes near it."""


def refuse(code: str, told: Words, remedy: Words) -> PydanticCustomError:
    """An error that carries its stable code, text and remedy through pydantic."""
    return PydanticCustomError(  # type: ignore[type-abstract,unused-ignore]
        "routing", "{text}", {"code": code, "text": told.en, "told": told, "remedy": remedy}
    )


def as_tuple(value: object) -> object:
    """YAML gives lists where the records hold tuples."""
    return tuple(value) if isinstance(value, list) else value


def _name(value: str) -> str:
    if not _BACKEND_NAME.fullmatch(value):
        raise refuse(
            "bad_backend_name",
            Words(f"{value!r} can't be the name of a backend", f"{value!r} 不能用作后端的名称"),
            Words(
                "Use only letters, digits, dot, underscore and hyphen.",
                "只使用字母、数字、点、下划线和连字符。",
            ),
        )
    return value


def plain_text(value: str) -> str:
    """The value, when it can be shown on one line; raises an error of pydantic otherwise."""
    if not value or value != value.strip():
        raise refuse(
            "bad_text",
            Words(
                f"{value!r} is empty or begins or ends with white space",
                f"{value!r} 为空，或首尾有空白",
            ),
            Words(
                "Give a value without white space around it, or remove the field.",
                "填写首尾没有空白的值，或删掉该字段。",
            ),
        )
    if any(unicodedata.category(ch) in ("Cc", "Cs") for ch in value):
        raise refuse(
            "bad_text",
            Words(f"{value!r} has control characters in it", f"{value!r} 含有控制字符"),
            Words("Remove the control characters.", "删掉控制字符。"),
        )
    return value


def _public_name(value: str) -> str:
    plain_text(value)
    if len(value) > MAX_NAME_CHARS:
        raise refuse(
            "bad_model_name",
            Words(f"the name is {len(value)} characters long", f"名称长达 {len(value)} 个字符"),
            Words(
                f"Use at most {MAX_NAME_CHARS} characters.",
                f"最多使用 {MAX_NAME_CHARS} 个字符。",
            ),
        )
    return value


def _url(value: str) -> str:
    try:
        parse_backend_url(value)
    except UrlProblem as problem:
        raise refuse("bad_url", problem.told, problem.remedy) from problem
    return value


def _variable(value: str) -> str:
    if not _VARIABLE.fullmatch(value):
        raise refuse(
            "bad_variable_name",
            Words(
                "the value of api_key_env is not the name of an environment variable",
                "api_key_env 的值不是环境变量名",
            ),
            Words(
                "Give the variable's name (letters, digits, underscore), never the key itself.",
                "填写变量名（字母、数字、下划线），不要填写密钥本身。",
            ),
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

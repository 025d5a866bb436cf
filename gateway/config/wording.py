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
from gateway.words import Words

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
_FIELDS_BELOW: Final = Words(
    "Write fields below it, each as `name: value`.", "请在其下写字段，每个写成 `名称: 值`。"
)
_KINDS: Final[Mapping[str, tuple[Words, Words]]] = MappingProxyType(
    {
        "string_type": (
            Words("a text", "文本"),
            Words("Put the value in quotes.", "请给该值加上引号。"),
        ),
        "int_type": (
            Words("a whole number", "整数"),
            Words(
                "Write a number without quotes and without a point.", "请写不带引号和小数点的数字。"
            ),
        ),
        "float_type": (
            Words("a number", "数字"),
            Words("Write a number without quotes.", "请写不带引号的数字。"),
        ),
        "bool_type": (
            Words("true or false", "true 或 false"),
            Words("Write true or false, without quotes.", "请写 true 或 false，不带引号。"),
        ),
        "tuple_type": (
            Words("a list", "列表"),
            Words(
                "Write [a, b], or one line per item, each with a leading '- '.",
                "请写成 [a, b]，或每项一行并以 '- ' 开头。",
            ),
        ),
        "model_type": (Words("a mapping", "映射"), _FIELDS_BELOW),
        "dict_type": (Words("a mapping", "映射"), _FIELDS_BELOW),
    }
)

_OTHER_KIND: Final = (
    Words("something else", "其他类型"),
    Words("Correct the value.", "请修正该值。"),
)


REQUIRED_ZH: Final[Mapping[str, str]] = MappingProxyType(
    {
        "version": "本格式的版本：1。",
        "backends": "各个 vLLM 服务。",
        "models": "客户端可以请求的模型。",
        "name": "名称。",
        "url": "地址，可带路径前缀、末尾斜杠或 /v1。",
        "served_name": "引擎应答的模型名（--served-model-name），大小写须完全一致。",
        "backend": "后端的名称。",
    }
)
"""What each required field is, in Chinese; the English text is the field's description."""


def refused(error: ValidationError, record: type[BaseModel], base: Path) -> Iterator[Finding]:
    """One finding for each thing pydantic refused in `record`, which stands at `base`."""
    for detail in error.errors(include_url=False):
        yield _finding(detail, record, base)


def closest(word: str, known: Sequence[str]) -> str | None:
    """The known word that was most likely meant, if one is near."""
    folded = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def meant(word: str, known: Sequence[str], otherwise: Words) -> Words:
    """A remedy: the near word if there is one, and the known words (at most ten)."""
    known = [name for name in known if name and name.isprintable()]
    near = closest(word, known)
    if near is not None:
        return _did_you_mean(near)
    if not known:
        return otherwise
    more = ", ..." if len(known) > 10 else ""
    listed = f"{', '.join(known[:10])}{more}"
    return Words(f"{otherwise.en} Known: {listed}.", f"{otherwise.zh}已知：{listed}。")


def _did_you_mean(word: str) -> Words:
    return Words(f"Did you mean {word!r}?", f"是否想写 {word!r}？")


def _finding(detail: ErrorDetails, record: type[BaseModel], base: Path) -> Finding:
    kind = detail["type"]
    inner: Path = tuple(step for step in detail["loc"] if step != "[key]")
    path = (*base, *inner)
    is_named = bool(path) and isinstance(path[-1], str)
    name = Words(repr(path[-1]), repr(path[-1])) if is_named else Words("this entry", "此项")
    context: dict[str, Any] = detail.get("ctx") or {}
    if kind == "routing":
        return Finding(Code(context["code"]), path, context["told"], context["remedy"])
    if kind == "missing":
        told = Words(f"{name.en} is missing or empty", f"缺少 {name.zh}，或其值为空")
        return Finding(Code.MISSING_FIELD, path, told, _what(record, inner))
    if kind == "extra_forbidden":
        return _unknown(str(path[-1]), record, inner, path)
    if kind in ("enum", "literal_error"):
        return _choice(detail, path, str(context.get("expected", "")))
    if kind in ("greater_than", "greater_than_equal", "less_than_equal", "finite_number"):
        return _number(detail, path, kind, context)
    if kind == "string_too_short":
        told = Words(f"{name.en} is empty", f"{name.zh} 为空")
        return Finding(
            Code.BAD_TEXT, path, told, Words("Give a value or remove it.", "请填写值，或删除它。")
        )
    wanted, remedy = _KINDS.get(kind, _OTHER_KIND)
    is_secret = bool(path) and str(path[-1]).startswith("api_key")
    shown = _shown(detail["input"])
    instead = Words("", "") if is_secret else Words(f", not {shown.en}", f"，而不是{shown.zh}")
    told = Words(
        f"{name.en} must be {wanted.en}{instead.en}", f"{name.zh} 必须是{wanted.zh}{instead.zh}"
    )
    return Finding(Code.WRONG_TYPE, path, told, remedy)


def _number(detail: ErrorDetails, path: Path, kind: str, context: Mapping[str, Any]) -> Finding:
    bounds = {
        "greater_than": _bound("greater than {n:g}", "大于 {n:g}", context.get("gt", 0)),
        "greater_than_equal": _bound("{n:g} or greater", "不小于 {n:g}", context.get("ge", 0)),
        "less_than_equal": _bound("{n} or less", "不大于 {n}", context.get("le", 0)),
        "finite_number": Words("a finite number", "有限的数字"),
    }
    shown, bound = _shown(detail["input"]), bounds[kind]
    return Finding(
        Code.BAD_NUMBER,
        path,
        Words(
            f"{shown.en} is impossible here; it must be {bound.en}",
            f"此处不能是 {shown.zh}；必须{bound.zh}",
        ),
        Words(
            "Correct the number, or remove the field for the default.",
            "请修正数字，或删除该字段以使用默认值。",
        ),
    )


def _bound(en: str, zh: str, number: object) -> Words:
    return Words(en.format(n=number), zh.format(n=number))


def _choice(detail: ErrorDetails, path: Path, expected: str) -> Finding:
    allowed = re.findall(r"'([^']*)'", expected) or [expected]
    shown = _shown(detail["input"])
    return Finding(
        Code.BAD_CHOICE,
        path,
        Words(f"{shown.en} is none of the allowed values", f"{shown.zh} 不在允许的取值之中"),
        meant(
            str(detail["input"]),
            allowed,
            Words("Use one of the allowed values.", "请使用允许的取值之一。"),
        ),
    )


def _unknown(name: str, record: type[BaseModel], inner: Path, path: Path) -> Finding:
    owner = _owner(record, inner)
    if name == "api_key" and owner is BackendConfig:
        return Finding(
            Code.INLINE_API_KEY,
            path,
            Words(
                "a key must not stand in the file: routing files are shown, copied and committed",
                "密钥不能写在文件里：路由文件会被展示、复制和提交",
            ),
            Words(
                "Put it into an environment variable or a file and name that with api_key_env or "
                "api_key_file; then change the key, since it was written down.",
                "请把它放入环境变量或文件，并用 api_key_env 或 api_key_file 指定；"
                "由于已被写出，还应更换该密钥。",
            ),
        )
    fields = list(owner.model_fields)
    spoken = _SPOKEN.get(name)
    remedy = meant(name, fields, Words("Remove it.", "请删除它。"))
    if spoken in fields:
        remedy = _did_you_mean(str(spoken))
    told = Words(f"there is no field {name!r} here", f"此处没有字段 {name!r}")
    return Finding(Code.UNKNOWN_FIELD, path, told, remedy)


def _owner(record: type[BaseModel], inner: Path) -> type[BaseModel]:
    if len(inner) < 2:
        return record
    if record is ModelConfig and inner[0] == "backends":
        return BackendRef
    if record is RoutingConfig and inner[0] == "endpoints":
        return EndpointSwitches
    return _RECORDS.get(str(inner[0]), record)


def _what(record: type[BaseModel], inner: Path) -> Words:
    name = str(inner[-1])
    field = _owner(record, inner).model_fields.get(name)
    if field is None or not field.description or name not in REQUIRED_ZH:
        return Words("Add it.", "请添加。")
    return Words(f"Add it: {field.description}", f"请添加：{REQUIRED_ZH[name]}")


def _shown(value: object) -> Words:
    if isinstance(value, (list, tuple)):
        return Words("a list", "列表")
    if isinstance(value, dict):
        return Words("a mapping", "映射")
    if value is None:
        return Words("nothing", "空值")
    if isinstance(value, bool):
        return Words(str(value).lower(), str(value).lower())
    text = repr(value)
    text = text if len(text) <= 80 else f"{text[:77]}..."
    return Words(text, text)

"""What the routes of administration answer: texts in English and in the language asked for."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from fastapi import Response

from gateway.api.answers import as_json
from gateway.api.control import Applied, DrainState, Entry, Preview
from gateway.config.problems import Problem, Severity
from gateway.config.wording import closest
from gateway.protocol.chunks import Protocol
from gateway.protocol.envelope import ErrorView, error_body
from gateway.words import Language, Words

_NAMES_SHOWN: Final = 20

_REFUSED: Final = Words(
    "The routing file is refused and version {version} stays in force: {first}",
    "路由文件未被采用，版本 {version} 继续生效：{first}",
)
_NO_REASON: Final = Words("it can't be used", "无法使用")
_MORE_ERRORS: Final = Words(
    "{first} (the first of {count} errors)", "{first}（共 {count} 个错误，此为第一个）"
)
_NOT_KEPT: Final = Words(
    "The version '{key}' is not kept. GET /admin/config/history lists those that are.",
    "没有保存版本 '{key}'。GET /admin/config/history 会列出已保存的版本。",
)
_NONE_BEFORE: Final = Words(
    "No version before the one in force is kept, so there is nothing to go back to.",
    "没有保存当前版本之前的版本，无法回滚。",
)
_NO_BACKEND: Final = Words(
    "There is no backend '{name}' here.{near} Backends: {names}.",
    "没有名为 '{name}' 的后端。{near}现有后端：{names}。",
)
_NEAR: Final = Words(" Did you mean '{near}'?", "是否想写 '{near}'？")
_IS_DISABLED: Final = Words(
    " The routing file disables it, so nothing goes there.", "它在路由文件中已停用，不会收到请求。"
)
_NONE: Final = Words("none", "无")


def texts(words: Words, language: Language) -> dict[str, str]:
    """A text in English and in the language asked for."""
    return {name.value: words.spoken(name) for name in Language if name in (Language.EN, language)}


def failed(
    status: int,
    code: str,
    told: Words,
    language: Language,
    *,
    param: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> Response:
    """An error in the envelope of all errors, with its text in both languages beside it."""
    view = ErrorView(status, told.en, "invalid_request_error", code, param)
    body = json.loads(error_body(view, Protocol.GENERIC))
    return as_json({**body, "text": texts(told, language), **(more or {})}, status)


def applied(result: Applied, language: Language) -> Response:
    """What came of a reload or a rollback: 200, or 422 with every problem of the file."""
    told = {
        "result": result.result,
        "version": result.version,
        "who": result.who,
        "changes": [texts(change, language) for change in result.changes],
        "problems": _problems(result.problems, language),
        "note": None if result.note is None else texts(result.note, language),
    }
    if result.result != "refused":
        return as_json(told)
    return failed(422, "config_refused", _why_refused(result), language, more=told)


def preview(result: Preview, in_force: str, language: Language) -> Response:
    """What a file would change."""
    return as_json(
        {
            "version": result.version,
            "in_force": in_force,
            "is_usable": result.is_usable,
            "changes": [texts(change, language) for change in result.changes],
            "problems": _problems(result.problems, language),
        }
    )


def history(entries: Iterable[Entry], in_force: str) -> Response:
    """The kept versions, newest last; the newest of the version in force is marked."""
    listed = [
        {
            "number": entry.number,
            "version": entry.version,
            "who": entry.who,
            "when_s": round(entry.when_s, 3),
            "size_bytes": entry.size_bytes,
            "is_in_force": False,
        }
        for entry in entries
    ]
    for item in reversed(listed):
        if item["version"] == in_force:
            item["is_in_force"] = True
            break
    return as_json({"in_force": in_force, "entries": listed})


def drain_state(state: DrainState, language: Language) -> Response:
    """How far a backend is that is taken out, or was put back in."""
    return as_json(
        {
            "backend": state.backend,
            "in_flight": state.in_flight,
            "waiting": state.waiting,
            "is_draining": state.is_draining,
            "note": None if state.note is None else texts(state.note, language),
        }
    )


def version_not_kept(key: str | None, language: Language) -> Response:
    """No such version can be had; None asked for the one before."""
    told = _NONE_BEFORE if key is None else _filled(_NOT_KEPT, key=key[:100])
    return failed(404, "version_not_kept", told, language, param="version")


def backend_unknown(
    name: str, known: Iterable[str], disabled: Iterable[str], language: Language
) -> Response:
    """There is no backend of that name; names the near one, or all if they are few."""
    names = sorted(known)
    near = closest(name[:200], names)
    if name in disabled:
        hint = _IS_DISABLED
    else:
        hint = Words("", "") if near is None else _filled(_NEAR, near=near)
    shown = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
    listed = Words(shown, shown) if names else _NONE
    told = _filled(_NO_BACKEND, name=name[:200], near=hint, names=listed)
    return failed(404, "backend_unknown", told, language, param="backend")


def _problems(problems: Iterable[Problem], language: Language) -> list[dict[str, Any]]:
    """Each problem for machines, in English, and as people read it, in both languages."""
    return [
        {**problem.as_dict(), "text": texts(_rendered(problem), language)} for problem in problems
    ]


def _rendered(problem: Problem) -> Words:
    return Words(*(problem.render(language) for language in (Language.EN, Language.ZH)))


def _why_refused(result: Applied) -> Words:
    errors = [problem for problem in result.problems if problem.severity is Severity.ERROR]
    if not errors:
        first = result.note or _NO_REASON
    else:
        place, told = f"{errors[0].file}:{errors[0].line}: ", errors[0].told
        first = Words(place + told.en, place + told.zh)
    if len(errors) > 1:
        first = _filled(_MORE_ERRORS, first=first, count=len(errors))
    return _filled(_REFUSED, version=result.version, first=first)


def _filled(text: Words, **values: Words | str | int) -> Words:
    def of(language: Language) -> dict[str, object]:
        return {
            name: value.spoken(language) if isinstance(value, Words) else value
            for name, value in values.items()
        }

    return Words(text.en.format(**of(Language.EN)), text.zh.format(**of(Language.ZH)))

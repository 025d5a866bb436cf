"""/admin: changing what is in force: reload, look ahead, go back, take a backend out."""

import asyncio
from typing import Final
from unicodedata import category

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from gateway.api import admin_answers as answers
from gateway.api.admin_access import ask_siblings, authorize
from gateway.api.state import Site
from gateway.errors import Outcome, Refusal
from gateway.flow.body import refuse_coding
from gateway.words import Language, Words

MAX_FILE_BYTES: Final = 1024 * 1024
"""Largest routing file that is looked at ahead; a fleet of a thousand backends has 300 KB."""

_BODY_S: Final = 30.0
_MAX_CHARS: Final = 500
_READS: Final = ("GET", "HEAD")
_NO_LANGUAGE: Final = Words("`lang` is en or zh.", "`lang` 只能是 en 或 zh。")
_NOT_PLAIN: Final = Words(
    "`{param}` is at most {limit} characters without control characters.",
    "`{param}` 最多 {limit} 个字符，且不能含控制字符。",
)


def config_routes(site: Site) -> APIRouter:
    """The routes that change what is in force, or tell what would change."""
    router = APIRouter(prefix="/admin")
    _add_file_routes(router, site)
    _add_version_routes(router, site)
    _add_backend_routes(router, site)
    return router


def _add_file_routes(router: APIRouter, site: Site) -> None:
    @router.post("/reload")
    async def reload(request: Request, lang: str = "en") -> Response:
        who = authorize(site, request)
        if (wrong := _wrong(lang)) is not None:
            return wrong
        result = await site.control.reload(f"admin {who}")
        for told in await ask_siblings(site, request):
            if told.status != 200 and result.result != "refused":
                # One worker could not do what this one did.
                return Response(told.body, told.status, media_type=told.content_type)
        return answers.applied(result, Language(lang))

    @router.api_route("/config/history", methods=list(_READS))
    async def history(request: Request) -> Response:
        authorize(site, request)
        return answers.history(await site.control.history(), site.fleet.version)

    @router.api_route("/config/history/{version}", methods=list(_READS))
    async def text(request: Request, version: str, lang: str = "en") -> Response:
        authorize(site, request)
        if (wrong := _wrong(lang)) is not None:
            return wrong
        found = await site.control.text_of(version)
        if found is None:
            return answers.version_not_kept(version, Language(lang))
        return Response(found, media_type="text/plain; charset=utf-8")

    @router.post("/config/diff")
    async def diff(request: Request, file: str = "routing file", lang: str = "en") -> Response:
        authorize(site, request)
        if (wrong := _wrong(lang, file=file)) is not None:
            return wrong
        result = await site.control.preview(await _text(request), file)
        return answers.preview(result, site.fleet.version, Language(lang))


def _add_version_routes(router: APIRouter, site: Site) -> None:
    @router.post("/config/publish")
    async def publish(request: Request, lang: str = "en") -> Response:
        who = authorize(site, request)
        if (wrong := _wrong(lang)) is not None:
            return wrong
        result = await site.control.publish(await _text(request), f"admin {who}")
        return answers.applied(result, Language(lang))

    @router.post("/config/rollback")
    async def rollback(request: Request, version: str | None = None, lang: str = "en") -> Response:
        who = authorize(site, request)
        if (wrong := _wrong(lang)) is not None:
            return wrong
        # An empty version is a variable that was not set, and no wish for the one before.
        result = None if version == "" else await site.control.rollback(version, f"admin {who}")
        if result is None:
            return answers.version_not_kept(version, Language(lang))
        return answers.applied(result, Language(lang))


def _add_backend_routes(router: APIRouter, site: Site) -> None:
    def unknown(name: str, lang: str) -> Response:
        disabled = [b.name for b in site.fleet.config.backends if not b.enabled]
        return answers.backend_unknown(name, site.fleet.backends, disabled, Language(lang))

    @router.api_route("/backends/{name}", methods=list(_READS))
    async def backend(request: Request, name: str, lang: str = "en") -> Response:
        authorize(site, request)
        if (wrong := _wrong(lang)) is not None:
            return wrong
        state = site.control.draining(name)
        return unknown(name, lang) if state is None else answers.drain_state(state, Language(lang))

    @router.post("/backends/{name}/drain")
    async def drain(request: Request, name: str, reason: str = "", lang: str = "en") -> Response:
        who = authorize(site, request)
        if (wrong := _wrong(lang, reason=reason)) is not None:
            return wrong
        state = await site.control.drain(name, reason.strip(), f"admin {who}")
        return unknown(name, lang) if state is None else answers.drain_state(state, Language(lang))

    @router.post("/backends/{name}/undrain")
    async def undrain(request: Request, name: str, lang: str = "en") -> Response:
        who = authorize(site, request)
        if (wrong := _wrong(lang)) is not None:
            return wrong
        state = await site.control.undrain(name, f"admin {who}")
        return unknown(name, lang) if state is None else answers.drain_state(state, Language(lang))


def _wrong(lang: str, **shown: str) -> Response | None:
    """The refusal of a language that is not spoken, or of a text that could not be shown."""
    if lang not in list(Language):
        return answers.failed(400, "invalid_query", _NO_LANGUAGE, Language.EN, param="lang")
    for param, value in shown.items():
        if len(value) > _MAX_CHARS or any(category(sign)[0] == "C" for sign in value):
            told = Words(*(text.format(param=param, limit=_MAX_CHARS) for text in _NOT_PLAIN))
            return answers.failed(400, "invalid_query", told, Language(lang), param=param)
    return None


async def _text(request: Request) -> str:
    """The routing file in the body; raises `Refusal` if it is too large, too slow or no text."""
    refuse_coding(request.scope["headers"])
    pieces: list[bytes] = []
    size_bytes = 0
    try:
        async with asyncio.timeout(_BODY_S):
            async for piece in request.stream():
                size_bytes += len(piece)
                if size_bytes > MAX_FILE_BYTES:
                    raise Refusal(
                        Outcome.BODY_TOO_LARGE,
                        f"The routing file has more than {MAX_FILE_BYTES} bytes. Check a file of "
                        "that size with `ascend-gateway config check`.",
                    )
                pieces.append(piece)
    except (TimeoutError, ClientDisconnect) as error:
        told = f"The routing file did not arrive whole within {_BODY_S:g} s. Send it again."
        raise Refusal(Outcome.BODY_TOO_SLOW, told) from error
    try:
        return b"".join(pieces).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        told = f"Byte {error.start} of the routing file is not UTF-8. Save the file as UTF-8."
        raise Refusal(Outcome.BODY_NOT_UTF8, told) from error

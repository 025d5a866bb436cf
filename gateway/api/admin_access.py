"""Who may use /admin."""

from typing import Final
from urllib.parse import urlsplit

from fastapi import Request

from gateway.api.state import Site
from gateway.errors import Outcome, Refusal
from gateway.upstream.siblings import MARK, Told

_READS: Final = ("GET", "HEAD")


def authorize(site: Site, request: Request) -> str:
    """The name of the administrator who asks; raises `Refusal` for anybody else.

    Without admin keys, /admin is open on loopback. Web pages that a browser on this machine shows
    reach it there too, so those of other sites may not change anything: browsers name the site in
    Origin with every POST (Fetch standard, "Origin header").
    """
    if site.admin_keys:
        return site.admin_keys.authorize(request.scope["headers"]).name
    if not site.is_admin_open:
        raise Refusal(
            Outcome.KEY_REQUIRED,
            "No admin keys are set, so /admin is closed on this address. Set "
            "ASCEND_GATEWAY_ADMIN_KEYS or --admin-keys-file.",
        )
    if request.method not in _READS and _is_of_another_site(request):
        raise Refusal(
            Outcome.KEY_REQUIRED,
            "A web page of another site asked for this, and no admin keys are set. Set "
            "ASCEND_GATEWAY_ADMIN_KEYS or --admin-keys-file and send a key.",
        )
    return site.admin_keys.authorize(request.scope["headers"]).name


def _is_of_another_site(request: Request) -> bool:
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")


async def ask_siblings(site: Site, request: Request) -> list[Told]:
    """What the other workers of this gateway answer to the same, unless one of them asks."""
    if MARK in request.headers:
        return []
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    key = request.headers.get("authorization", "")
    return await site.siblings.ask(request.method, target, key)

"""/admin: what operators may see and clients may not. Needs an admin key."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from gateway.api.admin_access import ask_siblings, authorize
from gateway.api.answers import as_error, as_json
from gateway.api.state import Site
from gateway.config.export import routing_yaml
from gateway.observe.explain import explain
from gateway.observe.story import as_text
from gateway.observe.trails import Trails
from gateway.words import Language


def admin_routes(site: Site) -> APIRouter:
    """The routes for operators."""
    router = APIRouter(prefix="/admin")

    @router.api_route("/config", methods=["GET", "HEAD"])
    async def config(request: Request) -> Response:
        authorize(site, request)
        return as_json(
            {"version": site.fleet.version, "routing_file": routing_yaml(site.fleet.config)}
        )

    @router.api_route("/events", methods=["GET", "HEAD"])
    async def events(
        request: Request, since: int = 0, backend: str | None = None, kind: str | None = None
    ) -> Response:
        authorize(site, request)
        found = site.events.since(since, backend=backend, kind=kind)
        return as_json({"last_number": site.events.last_number, "events": found})

    @router.api_route("/explain", methods=["GET", "HEAD"])
    async def explained(
        request: Request,
        request_id: str = "",
        form: Annotated[str, Query(alias="format")] = "json",
        lang: str = "en",
    ) -> Response:
        authorize(site, request)
        wrong = _wrong_query(request_id, form, lang)
        if wrong is not None:
            return wrong
        trail = site.trails.find(request_id)
        if trail is None:
            for other in await ask_siblings(site, request):
                if other.status == 200:
                    return Response(other.body, media_type=other.content_type)
            return as_error(404, "request_not_kept", _not_kept(request_id, site.trails))
        found = explain(trail, site.clock.monotonic_s())
        if form == "json":
            return as_json(found)
        told = as_text(found, Language(lang)) + "\n"
        return Response(told, media_type="text/plain; charset=utf-8")

    return router


def _wrong_query(request_id: str, form: str, lang: str) -> Response | None:
    if not request_id:
        told = (
            "Say which request, as in /admin/explain?request_id=ID; the id is the x-request-id of "
            "its answer."
        )
        return as_error(400, "request_id_required", told, param="request_id")
    if form not in ("json", "text"):
        told = "`format` is json or text."
        return as_error(400, "invalid_query", told, param="format")
    if lang not in list(Language):
        return as_error(400, "invalid_query", "`lang` is en or zh.", param="lang")
    return None


def _not_kept(request_id: str, trails: Trails) -> str:
    since_s = trails.since_wall_s
    if since_s is None:
        kept = f"this gateway keeps the last {trails.kept} and has had none yet"
    else:
        since = datetime.fromtimestamp(since_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        kept = f"this gateway keeps the last {trails.kept}, now {len(trails)}, since {since}"
    return (
        f"The request '{request_id[:200]}' is not kept: {kept}. Use the x-request-id of the "
        "answer, and ask the gateway that gave it."
    )

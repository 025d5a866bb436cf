"""/admin: what operators may see and clients may not. Needs an admin key."""

from fastapi import APIRouter, Request, Response

from gateway.api.answers import as_json
from gateway.api.state import Site
from gateway.config.export import routing_yaml
from gateway.errors import Outcome, Refusal


def admin_routes(site: Site) -> APIRouter:
    """The routes for operators."""
    router = APIRouter(prefix="/admin")

    def authorize(request: Request) -> None:
        if site.admin_keys:
            site.admin_keys.authorize(request.scope["headers"])
        elif not site.is_admin_open:
            raise Refusal(
                Outcome.KEY_REQUIRED,
                "No admin keys are set, so /admin is closed on this address. Set "
                "ASCEND_GATEWAY_ADMIN_KEYS or --admin-keys-file.",
            )

    @router.api_route("/config", methods=["GET", "HEAD"])
    async def config(request: Request) -> Response:
        authorize(request)
        return as_json(
            {"version": site.fleet.version, "routing_file": routing_yaml(site.fleet.config)}
        )

    @router.api_route("/events", methods=["GET", "HEAD"])
    async def events(
        request: Request, since: int = 0, backend: str | None = None, kind: str | None = None
    ) -> Response:
        authorize(request)
        found = site.events.since(since, backend=backend, kind=kind)
        return as_json({"last_number": site.events.last_number, "events": found})

    return router

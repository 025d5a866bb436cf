"""GET /v1/models and /v1/models/{id}: from the routing file and cached state, no upstream call."""

from urllib.parse import unquote

from fastapi import APIRouter, Request, Response

from gateway.api.answers import as_json
from gateway.api.state import Site
from gateway.fleet.listing import listed_model, listed_models
from gateway.protocol.listing import ListedModel, list_object, model_object

_PREFIX = "/v1/models/"


def model_routes(site: Site) -> APIRouter:
    """The two routes; both need a client key where keys are set."""
    router = APIRouter()

    def permitted(model: str) -> bool:
        return bool(model)

    @router.api_route("/v1/models", methods=["GET", "HEAD"])
    async def models(request: Request) -> Response:
        site.keys.authorize(request.scope["headers"])
        listed = listed_models(site.fleet, permitted, site.created_s, site.clock.monotonic_s())
        return as_json(list_object(listed))

    @router.api_route(_PREFIX + "{name:path}", methods=["GET", "HEAD"])
    async def model(request: Request) -> Response:
        site.keys.authorize(request.scope["headers"])
        raw = request.scope["raw_path"].decode("ascii").partition(_PREFIX)[2]
        return as_json(model_object(_find(raw)))

    def _find(raw: str) -> ListedModel:
        """The model whose id is `raw` as sent, or `raw` decoded once."""
        now = site.clock.monotonic_s()
        for name in (raw, unquote(raw)):
            if site.fleet.names.find(name) is not None:
                return listed_model(site.fleet, name, permitted, site.created_s, now)
        return listed_model(site.fleet, unquote(raw), permitted, site.created_s, now)

    return router

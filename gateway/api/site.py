"""The FastAPI application for everything that is not on the data path."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from gateway.api.admin import admin_routes
from gateway.api.admin_config import config_routes
from gateway.api.answers import envelope
from gateway.api.health import health_routes
from gateway.api.models import model_routes
from gateway.api.state import Site
from gateway.errors import Outcome, Refusal
from gateway.protocol.endpoints import nearest_path


def build_site(site: Site) -> FastAPI:
    """The routes for models, health, metrics, version and administration."""
    app = FastAPI(
        title="ascend-gateway",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        version=site.version,
    )
    app.include_router(health_routes(site))
    app.include_router(model_routes(site))
    app.include_router(admin_routes(site))
    app.include_router(config_routes(site))

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return envelope(error)

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _http_error(request, error)

    async def crashed(request: Request, error: Exception) -> Response:
        site.log.crash("route_crashed", error, path=request.url.path)
        return envelope(Refusal(Outcome.INTERNAL, "The gateway failed on this request."))

    handlers: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
        Refusal: refused,
        HTTPException: http_error,
        Exception: crashed,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
    return app


def _http_error(request: Request, error: HTTPException) -> Response:
    path = request.url.path
    if error.status_code == 405:
        told = f"{path} does not take {request.method}. See the API reference for its methods."
        answer = envelope(Refusal(Outcome.METHOD_NOT_ALLOWED, told))
        answer.headers.update(error.headers or {})
        return answer
    near = nearest_path(path)
    hint = f" Did you mean {near}?" if near else " The gateway serves paths such as /v1/models."
    return envelope(
        Refusal(Outcome.ROUTE_UNKNOWN, f"There is no {request.method} {path} here.{hint}")
    )

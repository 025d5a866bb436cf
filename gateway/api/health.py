"""/livez, /readyz, /health, /metrics and /version: open to monitoring, without addresses."""

from typing import Any, Final

from fastapi import APIRouter, Request, Response

from gateway.api.answers import as_json
from gateway.api.state import Site
from gateway.config.kinds import KINDS
from gateway.config.status import ConfigStatus
from gateway.fleet.report import is_any_servable, report
from gateway.observe.merge import merged
from gateway.upstream.siblings import MARK

_METHODS: Final = ("GET", "HEAD")
_PROBLEMS_SHOWN: Final = 100


def health_routes(site: Site) -> APIRouter:
    """The routes for probes of load balancers and for monitoring."""
    router = APIRouter()

    @router.api_route("/livez", methods=list(_METHODS))
    async def livez() -> Response:
        return as_json({"status": "alive"})

    @router.api_route("/readyz", methods=list(_METHODS))
    async def readyz() -> Response:
        if site.is_draining():
            return as_json({"status": "draining"}, 503)
        if not is_any_servable(site.fleet, site.clock.monotonic_s()):
            return as_json({"status": "no model can be served"}, 503)
        return as_json({"status": "ready"})

    @router.api_route("/health", methods=list(_METHODS))
    async def health() -> Response:
        told = report(site.fleet, site.clock.monotonic_s())
        store = site.store()
        if told["status"] == "ok" and store["status"] != "ok":
            told["status"] = "degraded"
        for name, model in told["models"].items():
            model["waiting"] = site.waiting(name)
        body = {
            "status": told["status"],
            "version": site.version,
            "config_version": site.fleet.version,
            "config": _config(site.config_status()),
            "draining": site.is_draining(),
            "store": store,
            **told,
        }
        return as_json(body, 503 if told["status"] == "down" else 200)

    @router.api_route("/metrics", methods=list(_METHODS))
    async def metrics(request: Request) -> Response:
        texts = [site.metrics.text()]
        if MARK not in request.headers:
            told = await site.siblings.ask("GET", "/metrics")
            texts += [one.body for one in told if one.status == 200]
        return Response(merged(texts), media_type="text/plain; version=0.0.4; charset=utf-8")

    @router.api_route("/version", methods=list(_METHODS))
    async def version() -> Response:
        return as_json({"version": site.version})

    return router


def _config(status: ConfigStatus) -> dict[str, Any]:
    """The routing file in force, and what is wrong with the one on disk.

    Messages may have addresses in them; they are told to administrators, and in the log.
    """
    return {
        "version": status.version,
        "by": status.by,
        "loaded_at_s": round(status.loaded_at_s, 3),
        "is_refused": status.is_refused,
        "refused_by": status.refused_by or None,
        "refused_at_s": status.refused_at_s,
        "problems": [
            {
                "severity": p.severity.value,
                "code": p.code.value,
                "line": p.line,
                "column": p.column,
                "path": p.path,
                "meaning": KINDS[p.code].meaning.en,
            }
            for p in status.refused[:_PROBLEMS_SHOWN]
        ],
    }

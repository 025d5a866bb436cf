"""Routing files for the tests, written as the dicts they are in YAML."""

from typing import Any

from tests.support.upstream import ScriptedUpstream

Tree = dict[str, Any]


def backend(name: str, upstream: ScriptedUpstream | str, **fields: Any) -> Tree:
    """A backend entry; a string instead of an upstream is its URL."""
    if isinstance(upstream, str):
        return {"name": name, "url": upstream, **fields}
    return {"name": name, "url": upstream.url, "served_name": upstream.names[0], **fields}


def model(name: str, *backends: str | Tree, **fields: Any) -> Tree:
    return {"name": name, "backends": list(backends), **fields}


def routes(backends: list[Tree], models: list[Tree], **fields: Any) -> Tree:
    return {"version": 1, "backends": backends, "models": models, **fields}


def one_model(upstream: ScriptedUpstream, public: str | None = None, **fields: Any) -> Tree:
    """One backend u1 and one model, named as the upstream serves it unless `public` says else."""
    return routes([backend("u1", upstream)], [model(public or upstream.names[0], "u1", **fields)])

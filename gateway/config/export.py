"""A config as YAML text that loads to an equal config, and the format as a JSON schema."""

import json
from typing import Any, Final

import yaml

from gateway.config.schema import RoutingConfig

SCHEMA_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_LINE: Final = "# yaml-language-server: $schema=./routing.schema.json\n"


def routing_yaml(config: RoutingConfig) -> str:
    """The config as a routing file, without the fields that have their default value."""
    tree = config.model_dump(mode="json", exclude_defaults=True)
    for model in tree["models"]:
        if "backends" in model:
            model["backends"] = [_short_ref(ref) for ref in model["backends"]]
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, default_flow_style=None)


def _short_ref(ref: dict[str, Any]) -> dict[str, Any] | str:
    return ref["backend"] if list(ref) == ["backend"] else ref


def routing_schema() -> dict[str, Any]:
    """The JSON schema of routing files, for editors."""
    return {
        "$schema": SCHEMA_DIALECT,
        **RoutingConfig.model_json_schema(),
        "title": "Routing file of ascend-gateway",
    }


def routing_schema_text() -> str:
    """The schema as it is kept in config/routing.schema.json."""
    return json.dumps(routing_schema(), indent=2, ensure_ascii=False) + "\n"

"""The process settings as a JSON schema: a map of environment variables, as compose files have."""

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic.fields import FieldInfo

from gateway.cli.options import holds_secret
from gateway.config.export import SCHEMA_DIALECT
from gateway.settings import ENV_PREFIX, Settings

# A variable is text in the end, so YAML may write a number or a switch with quotes or without.
_TEXT_FORMS: Final[Mapping[str, str]] = {
    "integer": "^ *[-+]?[0-9]+ *$",
    "number": "^ *[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)? *$",
    "boolean": "^([Tt]rue|TRUE|[Ff]alse|FALSE|[Yy]es|YES|[Nn]o|NO|[Oo]n|ON|[Oo]ff|OFF|[01])$",
}
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def settings_schema() -> dict[str, Any]:
    """The schema. Other variables may stand beside ours; ones with our prefix must be settings."""
    made = Settings.model_json_schema()
    properties = {
        variable_of(name): _property(Settings.model_fields[name], _resolved(tree, made))
        for name, tree in made["properties"].items()
    }
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "Environment variables of ascend-gateway",
        "type": "object",
        "properties": properties,
        "propertyNames": {
            "if": {"pattern": f"^{ENV_PREFIX}"},
            "then": {"enum": list(properties)},
        },
        "dependentRequired": {
            variable_of("tls_cert_file"): [variable_of("tls_key_file")],
            variable_of("tls_key_file"): [variable_of("tls_cert_file")],
        },
    }


def settings_schema_text() -> str:
    """The schema as it is kept in config/settings.schema.json."""
    return json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n"


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return f"{ENV_PREFIX}{name.upper()}"


def _resolved(tree: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """The tree of a field with what a reference in it leads to."""
    reference = tree.get("$ref")
    if reference is None:
        return tree
    target: dict[str, Any] = made["$defs"][reference.rpartition("/")[2]]
    return {**target, **tree}


def _property(field: FieldInfo, tree: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"description": field.description}
    kind: str = tree.get("type", "")
    if kind in _TEXT_FORMS:
        told |= {"type": [kind, "string"], "pattern": _TEXT_FORMS[kind]}
        told |= {bound: tree[bound] for bound in _BOUNDS if bound in tree}
    elif "enum" in tree:
        told |= {"type": "string", "enum": tree["enum"]}
    else:
        told["type"] = "string"
    if field.default not in (None, ()):
        told["default"] = tree.get("default")
    if holds_secret(field):
        told["writeOnly"] = True
    return told

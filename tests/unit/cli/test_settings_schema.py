"""The schema of the settings says what pydantic takes from the environment."""

import json
import re

import pytest
from pydantic import ValidationError

from gateway.cli.settings_schema import settings_schema, settings_schema_text, variable_of
from gateway.config.export import SCHEMA_DIALECT
from gateway.settings import LogLevel, Settings

SCHEMA = settings_schema()
PROPERTIES = SCHEMA["properties"]


def test_every_setting_is_a_variable_and_nothing_else_with_our_prefix() -> None:
    names = [variable_of(name) for name in Settings.model_fields]
    assert json.loads(settings_schema_text()) == SCHEMA
    assert SCHEMA["$schema"] == SCHEMA_DIALECT
    assert list(PROPERTIES) == names == SCHEMA["propertyNames"]["then"]["enum"]
    assert re.match(SCHEMA["propertyNames"]["if"]["pattern"], "ASCEND_GATEWAY_PROT")
    assert not re.match(SCHEMA["propertyNames"]["if"]["pattern"], "PATH")
    assert all(one["description"] for one in PROPERTIES.values())


def test_what_is_said_of_some() -> None:
    port = PROPERTIES["ASCEND_GATEWAY_PORT"]
    assert (port["type"], port["minimum"], port["maximum"]) == (["integer", "string"], 0, 65535)
    assert port["default"] == 8000
    assert PROPERTIES["ASCEND_GATEWAY_KEEP_ALIVE_S"]["exclusiveMinimum"] == 0
    assert PROPERTIES["ASCEND_GATEWAY_LOG_LEVEL"]["enum"] == list(LogLevel)
    assert PROPERTIES["ASCEND_GATEWAY_LOG_LEVEL"]["default"] == "info"
    assert PROPERTIES["ASCEND_GATEWAY_CORS_ORIGINS"]["type"] == "string"
    secrets = [name for name, one in PROPERTIES.items() if one.get("writeOnly")]
    assert secrets == [
        f"ASCEND_GATEWAY_{name}" for name in ("CLIENT_KEYS", "ADMIN_KEYS", "STORE_URL")
    ]
    assert SCHEMA["dependentRequired"]["ASCEND_GATEWAY_TLS_CERT_FILE"] == [
        "ASCEND_GATEWAY_TLS_KEY_FILE"
    ]


TEXTS = ("0", "1", "12", " 12 ", "1.5", ".5", "2.", "1e3", "true", "False", "YES", "off", "x", "")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", ["port", "drain_s", "access_log", "config_history"])
def test_the_texts_that_match_are_those_that_are_taken(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable_of(name), text)
    try:
        Settings()
        is_taken = True
    except ValidationError:
        is_taken = False
    told = PROPERTIES[variable_of(name)]
    is_matched = re.search(told["pattern"], text) is not None
    least = told.get("minimum")
    is_in_bounds = not is_matched or least is None or float(text) >= least
    assert (is_matched and is_in_bounds) == is_taken

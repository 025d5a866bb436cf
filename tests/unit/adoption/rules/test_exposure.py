from typing import Final

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.rules.exposure import GATEWAY_IDLE_S
from gateway.adoption.sources import PortMap
from gateway.upstream.pool import DEFAULT_IDLE_LIMIT_S
from tests.unit.adoption.rules.backends import (
    Case,
    backend,
    case,
    container,
    found_in,
    on_host,
)

FIRES: Final = (
    case(Code.NO_API_KEY, "all addresses", backend({"has_api_key": False}), host="0.0.0.0"),
    case(
        Code.NO_API_KEY,
        "no --host means all",
        on_host({"has_api_key": False, "host": None}),
        host="0.0.0.0",
        port="8000",
    ),
    case(Code.NO_API_KEY, "IPv6", on_host({"has_api_key": False, "host": "::"}), host="::"),
    case(
        Code.LOCAL_MEDIA_OPEN,
        "everything",
        backend({"allowed_local_media_path": "/"}),
        path="/",
    ),
    case(
        Code.LOCAL_MEDIA_OPEN,
        "everything, spelt otherwise",
        backend({"allowed_local_media_path": "/data/.."}),
    ),
    case(
        Code.DEV_MODE_OPEN,
        "published",
        backend(env={"VLLM_SERVER_DEV_MODE": "1"}),
        port="8000",
    ),
    case(Code.KEPT_WHEN_DEAD, "set", backend(env={"VLLM_KEEP_ALIVE_ON_ENGINE_DEATH": "1"})),
    case(
        Code.KEEP_ALIVE_SHORT,
        "shorter than the gateway's",
        backend(env={"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "2"}),
        seconds="2",
    ),
    case(Code.NAMES_NOT_CHECKED, "set", backend(env={"VLLM_SKIP_MODEL_NAME_VALIDATION": "true"})),
    case(
        Code.METRICS_OFF,
        "with underscores",
        backend(options=("--disable_log_stats",)),
    ),
)

QUIET: Final = (
    case(Code.NO_API_KEY, "a key", backend()),
    case(
        Code.NO_API_KEY,
        "a key in the environment",
        backend({"has_api_key": False}, env={"VLLM_API_KEY": "***"}),
    ),
    case(Code.NO_API_KEY, "loopback", on_host({"has_api_key": False, "host": "127.0.0.1"})),
    case(
        Code.NO_API_KEY,
        "published on loopback",
        backend(
            {"has_api_key": False}, container=container(ports=(PortMap(8000, 8000, "127.0.0.1"),))
        ),
    ),
    case(Code.LOCAL_MEDIA_OPEN, "one folder", backend({"allowed_local_media_path": "/data/media"})),
    case(Code.LOCAL_MEDIA_OPEN, "none", backend()),
    case(Code.DEV_MODE_OPEN, "off", backend(env={"VLLM_SERVER_DEV_MODE": "0"})),
    case(
        Code.DEV_MODE_OPEN,
        "loopback",
        on_host({"host": "127.0.0.1"}, env={"VLLM_SERVER_DEV_MODE": "1"}),
    ),
    case(Code.KEPT_WHEN_DEAD, "off", backend(env={"VLLM_KEEP_ALIVE_ON_ENGINE_DEATH": "0"})),
    case(Code.KEEP_ALIVE_SHORT, "longer", backend(env={"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "65"})),
    case(Code.KEEP_ALIVE_SHORT, "no number", backend(env={"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "$T"})),
    case(Code.NAMES_NOT_CHECKED, "off", backend(env={"VLLM_SKIP_MODEL_NAME_VALIDATION": ""})),
    case(Code.METRICS_OFF, "on", backend()),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []


def test_the_gateway_keeps_idle_connections_as_long_as_the_rule_says() -> None:
    assert GATEWAY_IDLE_S == DEFAULT_IDLE_LIMIT_S

"""Reports about addresses and the environment: URLs of backends, IPv6, proxies, late starters."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from gateway.cli.main import main
from tests.support import answers
from tests.support.gateway import CHAT, running_gateway
from tests.support.process import gateway_process
from tests.support.routing import backend, model, routes
from tests.support.upstream import ScriptedUpstream
from tests.support.waiting import eventually

FORMS = [
    ("{url}", ""),
    ("{url}/", ""),
    ("{url}/v1", ""),
    ("{url}/v1/", ""),
    ("{url}/pre/v1/", "/pre"),
    ("{url}/pre", "/pre"),
    ("{url}/a/b/", "/a/b"),
]


@pytest.mark.case("url-join-1")
@pytest.mark.parametrize(("form", "prefix"), FORMS, ids=[form for form, _ in FORMS])
async def test_url_join_1(form: str, prefix: str, tmp_path: Path) -> None:
    async with ScriptedUpstream("m1", prefix=prefix) as u1:
        url = form.format(url=f"http://{u1.authority}")
        config = routes([backend("u1", url, served_name="m1")], [model("m1", "u1")])
        async with running_gateway(config) as gateway:
            assert (await gateway.chat("m1")).status == 200
            assert (await gateway.post("/tokenize", {"model": "m1"})).status == 200
            assert u1.paths == [prefix + CHAT, prefix + "/tokenize"]
            assert (await gateway.health())["backends"]["u1"]["state"] == "up"
        assert {probe.path for probe in u1.probes} >= {prefix + "/v1/models"}
    file = tmp_path / "routing.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    shown = CliRunner().invoke(main, ["config", "check", str(file)])
    assert shown.exit_code == 0, shown.output
    assert f"http://{u1.authority}{prefix}{CHAT}" in shown.output


@pytest.mark.case("url-join-3")
async def test_url_join_3(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1", host="::1") as u1:
        url = f"http://[::1]:{u1.port}/v1"
        config = routes([backend("u1", url, served_name="m1")], [model("m1", "u1")])
        async with running_gateway(config, host="::1") as gateway:
            assert (await gateway.chat("m1")).status == 200
            assert u1.requests[0].header("host") == f"[::1]:{u1.port}"
        async with gateway_process(config, tmp_path, host="::1") as process:
            assert (await process.chat("m1")).status == 200
            assert u1.requests[1].header("host") == f"[::1]:{u1.port}"
            health = await process.health()
            assert health["backends"]["u1"]["state"] == "up"
            assert (await process.metrics()).total("gateway_requests_total", model="m1") == 1


@asynccontextmanager
async def proxy_trap() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A listening socket that nobody should come to."""
    came: list[bytes] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(note, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], came


@pytest.mark.case("proxyenv-1")
async def test_proxyenv_1(tmp_path: Path) -> None:
    async with proxy_trap() as (port, came), ScriptedUpstream("m1") as u1:
        url = f"http://127.0.0.1:{port}"
        names = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")
        env = dict.fromkeys(names, url)
        # The range in no_proxy is one that clients don't understand; it must not matter.
        env |= {"no_proxy": "127.0.0.0/8", "NO_PROXY": "127.0.0.0/8"}
        env["ASCEND_GATEWAY_PROBE_INTERVAL_S"] = "0.2"
        config = routes([backend("u1", u1)], [model("m1", "u1")])
        async with gateway_process(config, tmp_path, env=env) as gateway:
            assert (await gateway.chat("m1")).status == 200
            assert (await gateway.chat("m1", stream=True)).events == answers.chat_events("m1")
            seen = len(u1.probes)
            await u1.until(lambda: len(u1.probes) >= seen + 4)
        assert came == []


@pytest.mark.case("start-1")
async def test_start_1(tmp_path: Path) -> None:
    u1 = ScriptedUpstream("m1")
    async with ScriptedUpstream("m2") as u2:
        unknown = "http://no-such-host.invalid:8000"
        config = routes(
            [
                backend("u1", u1),
                backend("u2", u2),
                backend("u3", unknown, served_name="m3"),
            ],
            [model("m1", "u1"), model("m2", "u2"), model("m3", "u3")],
        )
        env = {"ASCEND_GATEWAY_PROBE_INTERVAL_S": "0.2"}
        async with gateway_process(config, tmp_path, env=env, wait=False) as gateway:
            await gateway.until_live()
            assert (await gateway.chat("m2")).status == 200
            down = await gateway.chat("m1")
            assert down.status == 503
            assert down.error["code"] == "no_backend_available"
            assert down.header("retry-after")
            assert (await gateway.chat("m3")).status == 503

            async def is_ready() -> bool:
                return (await gateway.get("/readyz")).status == 200

            await eventually(is_ready)
            await gateway.until_probed()
            health = await gateway.health()
            states = {name: one["state"] for name, one in health["backends"].items()}
            assert states == {"u1": "down", "u2": "up", "u3": "down"}

            async with u1:

                async def serves() -> bool:
                    return (await gateway.chat("m1")).status == 200

                await eventually(serves)


async def test_a_gateway_with_all_backends_down_is_live_and_not_ready(tmp_path: Path) -> None:
    u1 = ScriptedUpstream("m1")
    config = routes([backend("u1", u1)], [model("m1", "u1")])
    env = {"ASCEND_GATEWAY_PROBE_INTERVAL_S": "0.2"}
    async with gateway_process(config, tmp_path, env=env) as gateway:
        assert (await gateway.get("/livez")).status == 200
        assert (await gateway.get("/readyz")).status == 503
        async with u1:

            async def is_ready() -> bool:
                return (await gateway.get("/readyz")).status == 200

            await eventually(is_ready)
            assert (await gateway.chat("m1")).status == 200

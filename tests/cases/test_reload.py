"""Reports about a routing file that changes while requests are served."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support import answers
from tests.support.connection import Exchange
from tests.support.gateway import GatewayClient
from tests.support.reloading import reloadable
from tests.support.routing import backend, model, routes
from tests.support.upstream import ScriptedUpstream
from tests.support.waiting import eventually
from tests.support.wire import DONE


class Ticker:
    """Asks again and again, one request after the other, and keeps what came."""

    def __init__(self, gateway: GatewayClient, name: str) -> None:
        self._gateway = gateway
        self._name = name
        self.statuses: list[int] = []
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            self.statuses.append((await self._gateway.chat(self._name)).status)
            # A breath, so that a busy machine gets on with the rest.
            await asyncio.sleep(0.01)

    async def until_more(self, count: int = 5) -> None:
        """Waits for so many answers to requests from now on."""
        wanted = len(self.statuses) + count

        async def seen() -> bool:
            return len(self.statuses) >= wanted

        await eventually(seen)

    async def stop(self) -> list[int]:
        self._task.cancel()
        await asyncio.wait([self._task])
        return self.statuses


@pytest.mark.case("reload-bad-1")
async def test_reload_bad_1(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        good = routes([backend("u1", u1)], [model("m1", "u1")])
        other = routes([backend("u2", u2)], [model("m1", "u2")])
        async with reloadable(tmp_path, good) as running:
            text = running.file.read_text()
            version = (await running.config())["version"]
            ticker = Ticker(running.gateway, "m1")
            await ticker.until_more()

            running.write(
                text.replace("version: 1", "version: 1\nmodels: [{name: m1 backends: u1]")
            )
            refused = await running.until_refused()
            assert refused["version"] == version
            (problem,) = (p for p in refused["problems"] if p["code"] == "yaml_syntax")
            assert problem["line"] > 1
            metrics = await running.gateway.metrics()
            assert metrics.total("gateway_config_refused") == 1
            await ticker.until_more()

            running.write(text)
            mended = await running.until_refused(False)
            assert mended["version"] == version
            assert (await running.gateway.metrics()).total("gateway_config_refused") == 0
            assert not u2.requests

            await running.change(other)
            await u2.until(lambda: len(u2.requests) > 3)
            assert set(await ticker.stop()) == {200}


@pytest.mark.case("reload-live-1")
async def test_reload_live_1(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        await exchange.start_stream()
        for number, one in enumerate(answers.chat_events("m1", ["text "] * 18)):
            if number == 5:
                await go_on.wait()
            await exchange.event(one)
        await exchange.end_stream()

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers["/v1/chat/completions"] = slow
        before = routes([backend("u1", u1)], [model("m1", "u1")])
        after = routes([backend("u2", u2)], [model("m1", "u2")])
        async with reloadable(tmp_path, before) as running:
            streams = [
                asyncio.create_task(running.gateway.chat("m1", stream=True)) for _ in range(10)
            ]
            await u1.until(lambda: len(u1.requests) == 10)
            await running.change(after)
            for _ in range(10):
                assert (await running.gateway.chat("m1")).status == 200
            assert len(u1.requests) == 10
            assert len(u2.requests) == 10
            health: Any = await running.gateway.health()
            assert health["leaving"] == [{"backend": "u1", "in_flight": 10}]
            go_on.set()
            for answer in await asyncio.gather(*streams):
                assert answer.status == 200
                assert answer.body.count(b"data: ") == 21
                assert answer.body.endswith(DONE)
            await u1.until(lambda: all(not one.is_open for one in u1.connections))
            assert (await running.gateway.health())["leaving"] == []


@pytest.mark.case("reload-probe-1")
async def test_reload_probe_1(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        both = routes([backend("u1", u1), backend("u2", u2)], [model("m1", "u1", "u2")])
        only = routes([backend("u2", u2)], [model("m1", "u2")])
        quick = {"probe_interval_s": 0.1, "scrape_interval_s": 0.1}
        async with reloadable(tmp_path, both, **quick) as running:
            await running.change(only)
            await u1.until(lambda: all(not one.is_open for one in u1.connections))
            seen, others = len(u1.probes), len(u2.probes)
            # Three and more of its intervals by what the other one saw.
            await u2.until(lambda: len(u2.probes) >= others + 12)
            assert len(u1.probes) == seen
            text = (await running.gateway.get("/metrics")).body.decode()
            assert 'backend="u1"' not in text
            assert 'backend="u2"' in text

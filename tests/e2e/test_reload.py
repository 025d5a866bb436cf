"""What requests notice of a routing file that changes under them: nothing."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from gateway.app import build_gateway
from gateway.config.load import load_file
from gateway.settings import Settings
from tests.support import answers, names
from tests.support.connection import Exchange
from tests.support.rawclient import RawAnswer
from tests.support.reloading import Reloaded, as_text, reloadable
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import ScriptedUpstream
from tests.support.waiting import eventually
from tests.support.wire import DONE, event_json

CHAT = "/v1/chat/completions"


class Paused:
    """Streams that stop in the middle until they may go on, or break there."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.begun = 0

    async def __call__(self, exchange: Exchange) -> None:
        await exchange.start_stream()
        for number, one in enumerate(answers.chat_events("m1", ["one ", "two ", "three "])):
            if number == 2:
                self.begun += 1
                exchange.upstream.changes.notify()
                await self.go_on.wait()
            await exchange.event(one)
        await exchange.end_stream()


def text_of(answer: RawAnswer) -> str:
    return "".join(
        choice["delta"].get("content") or ""
        for event in answer.events
        if event != DONE
        for choice in event_json(event)["choices"]
    )


def m1(*backends: Tree, **top: Any) -> Tree:
    return routes(list(backends), [model("m1", *(b["name"] for b in backends))], **top)


async def waiting(running: Reloaded, count: int) -> None:
    async def seen() -> bool:
        health = await running.gateway.health()
        return bool(health["models"]["m1"]["waiting"] == count)

    await eventually(seen)


async def test_a_request_that_waits_goes_to_a_backend_that_is_added(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        paused = u1.handlers[CHAT] = Paused()
        full = backend("u1", u1, max_num_seqs=1)
        async with reloadable(tmp_path, m1(full)) as running:
            first = asyncio.create_task(running.gateway.chat("m1", stream=True))
            await u1.until(lambda: paused.begun)
            second = asyncio.create_task(running.gateway.chat("m1"))
            await waiting(running, 1)
            await running.change(m1(full, backend("u2", u2)))
            assert (await second).status == 200
            assert len(u2.requests) == 1
            paused.go_on.set()
            assert (await first).body.endswith(DONE)


async def test_a_stream_whose_backend_is_removed_and_breaks_goes_on_elsewhere(
    tmp_path: Path,
) -> None:
    async def rest(exchange: Exchange) -> None:
        await exchange.stream(answers.chat_events("m1", ["two ", "three "]))

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        paused = u1.handlers[CHAT] = Paused()
        u2.handlers[CHAT] = rest
        before = m1(backend("u1", u1), backend("u2", u2, weight=0.001))
        before["models"][0]["placement"] = "weighted"
        async with reloadable(tmp_path, before) as running:
            stream = asyncio.create_task(running.gateway.chat("m1", stream=True))
            await asyncio.wait_for(u1.until(lambda: paused.begun), 20)
            await running.change(m1(backend("u2", u2)))
            for connection in u1.connections:
                connection.reset()
            answer = await stream
            assert answer.body.endswith(DONE)
            assert text_of(answer) == "one two three "


async def test_a_removed_backend_has_a_deadline(tmp_path: Path) -> None:
    async def rest(exchange: Exchange) -> None:
        await exchange.stream(answers.chat_events("m1", ["two ", "three "]))

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        paused = u1.handlers[CHAT] = Paused()
        u2.handlers[CHAT] = rest
        before = m1(backend("u1", u1), backend("u2", u2, weight=0.001))
        before["models"][0]["placement"] = "weighted"
        async with reloadable(tmp_path, before, removed_drain_s=0.2) as running:
            stream = asyncio.create_task(running.gateway.chat("m1", stream=True))
            await u1.until(lambda: paused.begun)
            await running.change(m1(backend("u2", u2)))
            assert text_of(await stream) == "one two three "
            await u1.until(lambda: all(not one.is_open for one in u1.connections))


async def test_a_backend_that_moved_is_asked_at_its_new_address(tmp_path: Path) -> None:
    """The old server dies with a request; what has its name now is another one."""
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        paused = u1.handlers[CHAT] = Paused()

        async def hold(exchange: Exchange) -> None:
            paused.begun += 1
            exchange.upstream.changes.notify()
            await paused.go_on.wait()

        u1.handlers[CHAT] = hold
        async with reloadable(tmp_path, m1(backend("b", u1))) as running:
            request = asyncio.create_task(running.gateway.chat("m1"))
            await u1.until(lambda: paused.begun)
            await running.change(m1(backend("b", u2)))
            for connection in u1.connections:
                connection.reset()
            assert (await request).status == 200
            assert len(u2.requests) == 1


async def test_counters_and_health_stay_with_those_that_stay(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        both = m1(backend("u1", u1), backend("u2", u2))
        async with reloadable(tmp_path, both, probe_interval_s=60.0) as running:
            for _ in range(4):
                assert (await running.gateway.chat("m1")).status == 200
            before = await running.gateway.metrics()
            looks = len(u1.probes)
            await running.change(m1(backend("u1", u1, weight=2.0)))
            after = await running.gateway.metrics()
            assert after.total(names.REQUESTS, model="m1") == 4
            attempts = "gateway_backend_attempts_total"
            assert after.total(attempts, backend="u1") == before.total(attempts, backend="u1")
            assert not after.total(attempts, backend="u2")
            health: Any = await running.gateway.health()
            assert health["backends"]["u1"]["state"] == "up"
            assert len(u1.probes) - looks <= 2


async def test_a_key_that_was_changed_is_taken_up(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("old-key")
    async with ScriptedUpstream("m1") as u1:
        config = m1(backend("u1", u1, api_key_file=str(key)))
        async with reloadable(tmp_path, config, probe_interval_s=0.1) as running:
            assert (await running.gateway.chat("m1")).status == 200
            assert u1.requests[-1].header("authorization") == "Bearer old-key"
            key.write_text("new-key")
            status, result = await running.reload()
            assert (status, result["result"]) == (200, "unchanged")
            assert (await running.gateway.chat("m1")).status == 200
            assert u1.requests[-1].header("authorization") == "Bearer new-key"
            seen = len(u1.probes)
            await u1.until(lambda: len(u1.probes) > seen + 3)
            assert u1.probes[-1].header("authorization") == "Bearer new-key"


async def test_a_reload_that_outlasts_the_gateway_begins_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = threading.Event(), threading.Event()

    def slow(*args: Any) -> Any:
        reading.set()
        assert go_on.wait(20)
        return {}, []

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        file = tmp_path / "routing.yaml"
        file.write_text(as_text(m1(backend("u1", u1))))
        routing = load_file(file).config
        assert routing is not None
        settings = Settings(config_file=file, state_dir=tmp_path, watch_config=False)
        gateway = build_gateway(settings, routing)
        await gateway.start()
        file.write_text(as_text(m1(backend("u2", u2))))
        monkeypatch.setattr("gateway.swap.read_backend_keys", slow)
        reload = asyncio.create_task(gateway.controls.reload("SIGHUP"))
        assert await asyncio.to_thread(reading.wait, 20)
        await gateway.stop()
        go_on.set()
        assert (await reload).result == "applied"
        assert not u2.connections
        names = {task.get_name() for task in asyncio.all_tasks()}
        assert not [name for name in names if name.startswith(("probe", "scrape", "retire"))]


async def test_a_renamed_backend_counts_under_its_new_name(tmp_path: Path) -> None:
    async def no_metrics(exchange: Exchange) -> None:
        await exchange.answer(404)

    async with ScriptedUpstream("m1") as u1:
        u1.handlers["/metrics"] = no_metrics
        quick = {"probe_interval_s": 0.1, "scrape_interval_s": 0.1}
        async with reloadable(tmp_path, m1(backend("old", u1)), **quick) as running:
            await running.change(m1(backend("new", u1)))

            async def counted() -> bool:
                metrics = await running.gateway.metrics()
                failures = "gateway_backend_scrape_failures_total"
                assert not metrics.total(failures, backend="old")
                return metrics.total(failures, backend="new") > 1

            await eventually(counted)


async def test_a_key_that_can_not_be_read_for_a_moment_stays(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("the-key")
    async with ScriptedUpstream("m1") as u1:
        entry = backend("u1", u1, api_key_file=str(key))
        async with reloadable(tmp_path, m1(entry)) as running:
            key.unlink()
            assert (await running.reload())[0] == 200
            await running.change(m1({**entry, "name": "renamed"}))
            assert (await running.gateway.chat("m1")).status == 200
            assert u1.requests[-1].header("authorization") == "Bearer the-key"
            events = (await running.gateway.get("/admin/events")).body
            assert b"backend_key_missing" in events
            await running.change(m1(backend("u1", u1)))
            assert (await running.gateway.chat("m1")).status == 200
            assert u1.requests[-1].header("authorization") is None


async def test_a_backend_that_comes_back_without_its_key_still_has_it(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("the-key")
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        paused = u1.handlers[CHAT] = Paused()
        entry = backend("u1", u1, api_key_file=str(key))
        async with reloadable(tmp_path, m1(entry)) as running:
            stream = asyncio.create_task(running.gateway.chat("m1", stream=True))
            await u1.until(lambda: paused.begun)
            await running.change(m1(backend("u2", u2)))
            key.unlink()
            await running.change(m1(entry))
            paused.go_on.set()
            assert (await running.gateway.chat("m1", stream=True)).status == 200
            assert (await stream).body.endswith(DONE)
            assert u1.requests[-1].header("authorization") == "Bearer the-key"


async def test_a_file_that_stays_refused_is_told_of_once(tmp_path: Path) -> None:
    """However often its TLS files are looked for."""
    async with ScriptedUpstream("m1") as u1:
        entry = backend("u1", u1)
        async with reloadable(tmp_path, m1(entry)) as running:
            keyless = {**entry, "api_key_file": str(tmp_path / "no-key")}
            tls = {"ca_file": str(tmp_path / "no.pem")}
            other = {"name": "u2", "url": "https://h:1", "served_name": "m1", "tls": tls}
            running.write(m1(keyless, other))
            await running.until_refused()
            for _ in range(3):
                assert (await running.reload())[0] == 422
            text = (await running.gateway.get("/admin/events")).body
            assert text.count(b"config_refused") == 1
            assert text.count(b"backend_key_missing") == 0


async def test_endpoints_limits_and_names_follow_the_file(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1:
        entry = backend("u1", u1)
        async with reloadable(tmp_path, m1(entry)) as running:
            ask = running.gateway.chat
            assert (await ask("m1")).status == 200
            await running.change(m1(entry, endpoints={"chat": False}))
            assert (await ask("m1")).json()["error"]["code"] == "route_disabled"
            renamed = routes([entry], [model("new", "u1", aliases=["m1"])])
            await running.change(renamed)
            assert (await ask("m1")).json()["model"] == "m1"
            assert (await ask("new")).json()["model"] == "new"
            await running.change(routes([entry], [model("new", "u1")]))
            assert (await ask("m1")).json()["error"]["code"] == "model_not_found"
            small = model("new", "u1", limits={"max_output_tokens": 5})
            await running.change(routes([entry], [small]))
            assert (await ask("new", max_tokens=6)).status == 400


async def test_a_file_with_unusable_tls_is_refused_until_it_can_be_used(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1:
        good = m1(backend("u1", u1))
        other = {
            "name": "u2",
            "url": "https://127.0.0.1:1",
            "served_name": "m1",
            "tls": {"ca_file": str(tmp_path / "no.pem")},
        }
        async with reloadable(tmp_path, good) as running:
            running.write(m1(backend("u1", u1), other))
            refused = await running.until_refused()
            assert [p["code"] for p in refused["problems"]] == ["tls_files_unusable"]
            assert refused["problems"][0]["path"] == "backends[1].tls"
            assert (await running.gateway.chat("m1")).status == 200
            status, told = await running.reload()
            assert (status, told["error"]["code"]) == (422, "config_refused")
            running.write(good)
            await running.until_refused(False)


async def test_many_reloads_at_once_are_one_or_two(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        files = [m1(backend("u1", u1)), m1(backend("u1", u1), backend("u2", u2))]
        async with reloadable(tmp_path, files[0], watch_config=False) as running:
            for number in range(5):
                running.write(files[number % 2])
                told = await asyncio.gather(*(running.reload() for _ in range(50)))
                assert {status for status, _ in told} == {200}
                assert len({result["version"] for _, result in told}) == 1
            health: Any = await running.gateway.health()
            assert list(health["backends"]) == ["u1"]


@pytest.mark.parametrize("is_removed", [False, True])
async def test_a_drained_backend_stays_drained(tmp_path: Path, is_removed: bool) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        both = m1(backend("u1", u1), backend("u2", u2))
        async with reloadable(tmp_path, both) as running:
            drained = await running.gateway.post("/admin/backends/u1/drain?reason=memory", b"")
            assert drained.json()["is_draining"] is True
            assert drained.json()["note"] is None
            between = (
                m1(backend("u2", u2))
                if is_removed
                else m1(backend("u1", u1, weight=2.0), backend("u2", u2))
            )
            await running.change(between)
            await running.change(both)
            await stays_drained(running, u1)
        async with reloadable(tmp_path, both, wait=False) as running:
            await u2.until(lambda: u2.probes)
            await stays_drained(running, u1)
            back = await running.gateway.post("/admin/backends/u1/undrain", b"")
            assert back.json()["is_draining"] is False
            await until_state(running, "u1", "up")


async def until_state(running: Reloaded, name: str, state: str) -> None:
    async def seen() -> bool:
        return bool((await running.gateway.health())["backends"][name]["state"] == state)

    await eventually(seen)


async def stays_drained(running: Reloaded, upstream: ScriptedUpstream) -> None:
    seen = len(upstream.requests)
    for _ in range(4):
        assert (await running.gateway.chat("m1")).status == 200
    assert len(upstream.requests) == seen
    health: Any = await running.gateway.health()
    assert health["backends"]["u1"]["state"] == "draining"
    assert "memory" in health["backends"]["u1"]["reason"]


async def test_back_to_the_version_before(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        first, second = m1(backend("u1", u1)), m1(backend("u2", u2))
        async with reloadable(tmp_path, first) as running:
            text = running.file.read_text() + "# kept with its comments\n"
            running.write(text)
            version = (await running.config())["version"]
            await running.reload()
            await running.change(second)
            listed = (await running.gateway.get("/admin/config/history")).json()
            assert listed["entries"][0]["version"] == version
            back = await running.gateway.post("/admin/config/rollback", b"")
            assert back.json()["result"] == "applied"
            assert back.json()["version"] == version
            assert "u2" in back.json()["changes"][0]["en"] + back.json()["changes"][-1]["en"]
            assert running.file.read_text() == text
            assert (await running.gateway.chat("m1")).status == 200
            assert len(u1.requests) == 1
            again = await running.gateway.post("/admin/config/rollback?version=none", b"")
            assert again.status == 404


async def test_a_drained_backend_stays_drained_under_its_new_name(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        both = m1(backend("u1", u1), backend("u2", u2))
        renamed = m1(backend("new", u1), backend("u2", u2))
        async with reloadable(tmp_path, both) as running:
            await running.gateway.post("/admin/backends/u1/drain", b"")
            await running.change(renamed)
            assert (await running.gateway.health())["backends"]["new"]["state"] == "draining"
        async with reloadable(tmp_path, renamed, wait=False) as running:
            await u2.until(lambda: u2.probes)
            assert (await running.gateway.health())["backends"]["new"]["state"] == "draining"

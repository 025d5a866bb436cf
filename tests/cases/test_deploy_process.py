"""Reports about the gateway's own connections and its end: keep-alive, SIGTERM, drain."""

import asyncio
from pathlib import Path

import pytest

from tests.support import answers, wire
from tests.support.gateway import CHAT, JSON, GatewayClient, chat_request, running_gateway
from tests.support.process import GatewayProcess, gateway_process
from tests.support.rawclient import RawAnswer, RawConnection
from tests.support.routing import one_model
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually

PAUSE_S = 10.0
EVENTS = answers.chat_events("m1")


async def two_requests(gateway: GatewayClient) -> list[int]:
    """Two requests on one connection with a long pause between."""
    async with gateway.connect() as connection:
        statuses = []
        for number in range(2):
            body = wire.compact(chat_request("m1"))
            await connection.request("POST", CHAT, [JSON], body)
            statuses.append((await connection.read_answer()).status)
            if number == 0:
                assert not await connection.is_closed_by_peer(PAUSE_S)
        return statuses


async def is_closed_when_idle(gateway: GatewayClient) -> bool:
    """Whether an idle connection is closed within a wide limit, but not at once."""
    async with gateway.connect() as connection:
        await connection.request("POST", CHAT, [JSON], wire.compact(chat_request("m1")))
        assert (await connection.read_answer()).status == 200
        assert not await connection.is_closed_by_peer(1.0)
        return await connection.is_closed_by_peer(PAUSE_S)


@pytest.mark.case("keepalive-3")
async def test_keepalive_3(tmp_path: Path) -> None:
    short = {"ASCEND_GATEWAY_KEEP_ALIVE_S": "2"}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with ScriptedUpstream("m1") as u1:
        config = one_model(u1)
        async with (
            running_gateway(config) as inside,
            running_gateway(config, keep_alive_s=2) as inside_short,
            gateway_process(config, tmp_path / "a") as process,
            gateway_process(config, tmp_path / "b", env=short) as process_short,
        ):
            kept, kept_process, closed, closed_process = await asyncio.gather(
                two_requests(inside),
                two_requests(process),
                is_closed_when_idle(inside_short),
                is_closed_when_idle(process_short),
            )
    assert (kept, kept_process) == ([200, 200], [200, 200])
    assert (closed, closed_process) == (True, True)


class HeldStream:
    """A stream whose end waits for the test."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    async def __call__(self, exchange: Exchange) -> None:
        await exchange.start_stream()
        for one in EVENTS[:3]:
            await exchange.event(one)
        await self.may_end.wait()
        for one in EVENTS[3:]:
            await exchange.event(one)
        await exchange.end_stream()


async def begin_stream(connection: RawConnection) -> RawAnswer:
    body = wire.compact(chat_request("m1", stream=True))
    await connection.request("POST", CHAT, [JSON], body)
    answer = await connection.read_head()
    await connection.read_events(answer, 3)
    return answer


async def finish(connection: RawConnection, answer: RawAnswer) -> None:
    while await connection.read_piece(answer):
        pass


async def status_or_refused(gateway: GatewayClient, method: str, target: str) -> int | None:
    """The status, or None where the connection is refused cleanly."""
    body = wire.compact(chat_request("m1")) if method == "POST" else None
    try:
        return (await gateway.raw(method, target, [JSON], body)).status
    except ConnectionError:
        return None


@pytest.mark.case("drain-1")
async def test_drain_1(tmp_path: Path) -> None:
    held = HeldStream()
    env = {"ASCEND_GATEWAY_DRAIN_S": "30"}
    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = held
        async with (
            gateway_process(one_model(u1), tmp_path, env=env) as gateway,
            gateway.connect() as connection,
        ):
            answer = await begin_stream(connection)
            assert (await gateway.get("/readyz")).status == 200
            gateway.terminate()

            async def is_not_ready() -> bool:
                return await status_or_refused(gateway, "GET", "/readyz") in (503, None)

            await eventually(is_not_ready)
            u1.handlers.pop(CHAT)
            assert await status_or_refused(gateway, "POST", CHAT) in (200, 503, None)
            assert gateway.process.returncode is None
            held.may_end.set()
            await finish(connection, answer)
            assert answer.is_complete
            assert answer.events == EVENTS
            assert await gateway.exit_code() == 0


@pytest.mark.case("drain-1")
async def test_drain_1_after_the_limit(tmp_path: Path) -> None:
    env = {"ASCEND_GATEWAY_DRAIN_S": "1"}
    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = HeldStream()
        async with (
            gateway_process(one_model(u1), tmp_path, env=env) as gateway,
            gateway.connect() as connection,
        ):
            answer = await begin_stream(connection)
            gateway.terminate()
            await finish(connection, answer)
            assert answer.is_complete, "the stream was cut without a word"
            assert answer.events[:3] == EVENTS[:3]
            assert len(answer.events) == 4
            assert wire.event_json(answer.events[3])["error"]["code"] == "gateway_draining"
            await u1.until(lambda: u1.live == 0)
            assert await gateway.exit_code() == 0


async def test_a_waiting_request_gets_an_error_at_the_limit(tmp_path: Path) -> None:
    async def hold(exchange: Exchange) -> None:
        await exchange.peer_closed()

    env = {"ASCEND_GATEWAY_DRAIN_S": "1"}
    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = hold
        async with gateway_process(one_model(u1), tmp_path, env=env) as gateway:
            sent = asyncio.create_task(gateway.chat("m1"))
            await u1.until(lambda: u1.live == 1)
            gateway.terminate()
            answer = await sent
            assert (answer.status, answer.error["code"]) == (503, "gateway_draining")
            assert await gateway.exit_code() == 0


@pytest.mark.case("drain-1")
async def test_drain_1_second_signal(tmp_path: Path) -> None:
    env = {"ASCEND_GATEWAY_DRAIN_S": "600"}
    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = HeldStream()
        async with (
            gateway_process(one_model(u1), tmp_path, env=env) as gateway,
            gateway.connect() as connection,
        ):
            await begin_stream(connection)
            gateway.terminate()
            await until_draining(gateway)
            gateway.terminate()
            await gateway.exit_code(limit_s=15.0)


async def until_draining(gateway: GatewayProcess) -> None:
    async def is_draining() -> bool:
        return await status_or_refused(gateway, "GET", "/readyz") in (503, None)

    await eventually(is_draining)


async def test_an_idle_gateway_ends_at_once(tmp_path: Path) -> None:
    env = {"ASCEND_GATEWAY_DRAIN_S": "600"}
    async with (
        ScriptedUpstream("m1") as u1,
        gateway_process(one_model(u1), tmp_path, env=env) as gateway,
        gateway.connect() as idle,
    ):
        await idle.request("GET", "/livez")
        assert (await idle.read_answer()).status == 200
        gateway.terminate()
        assert await gateway.exit_code() == 0

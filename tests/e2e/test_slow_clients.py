"""Clients that do not read: none of them holds a slot for ever."""

from tests.support import answers, wire
from tests.support.gateway import CHAT, JSON, chat_request, running_gateway
from tests.support.routing import one_model
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually


async def test_a_client_that_does_not_read_is_dropped_at_the_total_limit() -> None:
    event = answers.chat_events("m1", ["x" * 4000])[1]

    async def flood(exchange: Exchange) -> None:
        await exchange.start_stream()
        while True:
            await exchange.event(event)

    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = flood
        config = one_model(u1, timeouts={"total_s": 1.0})
        async with running_gateway(config) as gateway, gateway.connect() as connection:
            body = wire.compact(chat_request("m1", stream=True))
            await connection.request("POST", CHAT, [JSON], body)
            await connection.read_head()

            async def is_held() -> bool:
                return await gateway.in_flight() == 1

            await eventually(is_held)
            await gateway.until_idle()

"""Reports about metrics: the number of series is bounded by the routing file."""

import asyncio
import random

import pytest

from tests.support import names, wire
from tests.support.gateway import CHAT, JSON, GatewayClient, chat_request, running_gateway
from tests.support.routing import one_model
from tests.support.upstream import ScriptedUpstream

ODD = ('quo"te', "new\nline", "back\\slash", "名字", "tab\t", "{a=b}", "nul\x00", "🙂", "'", "a,b")


async def send_all(gateway: GatewayClient, wanted: list[str], lanes: int = 8) -> None:
    """POST a chat for each name, over a few kept connections."""

    async def lane(number: int) -> None:
        async with gateway.connect() as connection:
            for name in wanted[number::lanes]:
                await connection.request("POST", CHAT, [JSON], wire.compact(chat_request(name)))
                assert (await connection.read_answer()).status == 404

    await asyncio.gather(*(lane(number) for number in range(lanes)))


@pytest.mark.case("metrics-card-1")
async def test_metrics_card_1() -> None:
    draw = random.Random(7)
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        await send_all(gateway, ["first"])
        assert (await gateway.chat("m1")).status == 200
        before = await gateway.metrics()
        await send_all(gateway, [f"model-{draw.getrandbits(64):x}" for _ in range(2000)])
        await send_all(gateway, [f"{odd}-{number}" for odd in ODD for number in range(10)])
        for path in ("/v1/nope-1", "/v1/nope-2", "/sleep"):
            await gateway.post(path, {}, [("X-Request-Id", path), ("User-Agent", path)])
        after = await gateway.metrics()
        assert len(after) - len(before) < 60
        assert after.total(names.REQUESTS, model="unknown") >= 2101
        known = {"m1", "unknown", ""}
        assert {labels.get("model", "") for _, labels, _ in after.samples} <= known
        text = " ".join(value for _, labels, _ in after.samples for value in labels.values())
        assert "nope" not in text
        assert "first" not in text


async def test_requests_are_counted_by_model_and_status() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1, aliases=["alias"])) as gateway,
    ):
        for name in ("m1", "alias", "m1"):
            assert (await gateway.chat(name)).status == 200
        assert (await gateway.chat("m1", stream=True)).status == 200
        assert (await gateway.chat("nobody")).status == 404
        samples = await gateway.metrics()
        assert samples.total(names.REQUESTS, model="m1", status="200") == 4
        assert samples.total(names.REQUESTS, model="unknown", status="404") == 1
        assert samples.total(names.IN_FLIGHT, backend="u1") == 0
        # An alias is a client's word for the model, not a series of its own.
        assert samples.total(names.REQUESTS, model="alias") == 0

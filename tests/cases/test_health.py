"""Reports about the list of models and about health while backends are down."""

import json
from collections import Counter

import pytest

from tests.support.gateway import running_gateway
from tests.support.routing import backend, model, routes
from tests.support.upstream import ScriptedUpstream


@pytest.mark.case("models-list-1")
async def test_models_list_1() -> None:
    u2 = ScriptedUpstream("m2")
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u3:
        config = routes(
            [backend("u1", u1), backend("u2", u2), backend("u3", u3)],
            [model("m1", "u1", "u3", aliases=["m1-alias"]), model("m2", "u2")],
        )
        async with running_gateway(config) as gateway:
            for _ in range(5):
                answer = await gateway.get("/v1/models")
                assert answer.status == 200
                ids = Counter(entry["id"] for entry in answer.json()["data"])
                assert ids == {"m1": 1, "m2": 1}
                text = answer.body.decode()
                for upstream in (u1, u2, u3):
                    assert str(upstream.port) not in text
                assert "127.0.0.1" not in text
            status = {entry["id"]: entry["status"] for entry in answer.json()["data"]}
            assert status["m1"] != status["m2"]
    await u2.stop()


async def test_the_list_asks_no_backend() -> None:
    async with ScriptedUpstream("m1") as u1:
        config = routes([backend("u1", u1)], [model("m1", "u1")])
        async with running_gateway(config, probe_interval_s=60.0) as gateway:
            seen = len(u1.probes)
            for _ in range(5):
                assert (await gateway.get("/v1/models")).status == 200
                assert (await gateway.get("/v1/models/m1")).status == 200
            assert len(u1.probes) == seen


@pytest.mark.parametrize("listed", [False, True])
async def test_aliases_are_listed_only_when_configured(listed: bool) -> None:
    async with ScriptedUpstream("m1") as u1:
        one = model("m1", "u1", aliases=["a1", "a2"], list_aliases=listed)
        async with running_gateway(routes([backend("u1", u1)], [one])) as gateway:
            answer = (await gateway.get("/v1/models")).json()
            ids = {entry["id"] for entry in answer["data"]}
            assert ids == ({"m1", "a1", "a2"} if listed else {"m1"})
            assert (await gateway.get("/v1/models/a1")).status == 200


async def test_a_disabled_model_is_unknown() -> None:
    async with ScriptedUpstream("m1") as u1:
        models = [model("m1", "u1"), model("off", "u1", enabled=False)]
        async with running_gateway(routes([backend("u1", u1)], models)) as gateway:
            assert (await gateway.chat("off")).status == 404
            listed = (await gateway.get("/v1/models")).json()["data"]
            assert [entry["id"] for entry in listed] == ["m1"]


async def test_health_tells_the_states_apart() -> None:
    u2 = ScriptedUpstream("m2")
    async with ScriptedUpstream("m1") as u1:
        config = routes(
            [backend("u1", u1), backend("u2", u2, tier="eager")],
            [model("m1", "u1"), model("m2", "u2")],
        )
        async with running_gateway(config) as gateway:
            answer = await gateway.get("/health")
            health = answer.json()
            assert (answer.status, health["status"]) == (200, "degraded")
            assert set(health["models"]) == {"m1", "m2"}
            assert health["backends"]["u1"]["state"] != health["backends"]["u2"]["state"]
            assert health["backends"]["u2"]["reason"]
            assert health["backends"]["u2"]["tier"] == "eager"
            for one in health["backends"].values():
                assert {"state", "since_s", "reason", "drift", "tier", "in_flight", "cap"} <= set(
                    one
                )
            assert (await gateway.get("/readyz")).status == 200
    await u2.stop()


async def test_nothing_to_serve_is_503_but_alive() -> None:
    u1 = ScriptedUpstream("m1")
    config = routes([backend("u1", u1)], [model("m1", "u1")])
    async with running_gateway(config) as gateway:
        answer = await gateway.get("/health")
        assert (answer.status, answer.json()["status"]) == (503, "down")
        assert (await gateway.get("/readyz")).status == 503
        assert (await gateway.get("/livez")).status == 200
    await u1.stop()


async def test_a_backend_that_serves_another_model_is_drift_and_unused() -> None:
    async with ScriptedUpstream("other", any_model=True) as u1:
        config = routes([backend("u1", u1)], [model("m1", "u1")])
        config["backends"][0]["served_name"] = "m1"
        async with running_gateway(config) as gateway:
            answer = await gateway.chat("m1")
            assert (answer.status, answer.error["code"]) == (503, "no_backend_available")
            assert u1.requests == []
            drift = (await gateway.health())["backends"]["u1"]["drift"]
            assert "m1" in json.dumps(drift)

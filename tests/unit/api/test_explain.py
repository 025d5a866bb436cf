"""/admin/explain: who may ask, what is wrong with a question, and its answers."""

from typing import Any

import httpx
import pytest

from gateway.access.keys import Keyring
from gateway.api.site import build_site
from gateway.api.state import Site
from gateway.clock import Clock
from gateway.config.schema import RoutingConfig
from gateway.config.status import ConfigStatus
from gateway.fleet.registry import Registry
from gateway.observe.events import Events
from gateway.observe.logs import Log
from gateway.observe.metrics import Metrics
from gateway.observe.trails import Trails
from tests.unit.api.test_admin_config import FakeControl
from tests.unit.observe.placements import whole_story


class NoLines:
    def write(self, line: bytes) -> None: ...

    def close(self) -> None: ...


def site(trails: Trails, keys: tuple[tuple[str, str], ...] = (), *, is_open: bool = True) -> Site:
    log = Log(NoLines(), lambda: 0.0)
    return Site(
        fleet=Registry(RoutingConfig(version=1, backends=(), models=()), "v", 0.0),
        keys=Keyring((), b"salt"),
        admin_keys=Keyring(keys, b"salt"),
        metrics=Metrics(),
        events=Events(log, lambda: 0.0),
        log=log,
        clock=Clock(lambda: 200.0, lambda: 0.0),
        version="1",
        created_s=0,
        control=FakeControl(),
        config_status=lambda: ConfigStatus("v", "start", 0.0),
        is_draining=lambda: False,
        waiting=lambda model: 0,
        is_admin_open=is_open,
        trails=trails,
    )


def filled() -> Trails:
    trails = Trails()
    whole_story(trails)
    return trails


async def ask(one: Site, query: dict[str, str], **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(build_site(one))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        return await client.get("/admin/explain", params=query, headers=headers)


def error(answer: httpx.Response) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/json"
    told: dict[str, Any] = answer.json()["error"]
    assert told["type"] == "invalid_request_error"
    return told


async def test_json() -> None:
    answer = await ask(site(filled()), {"request_id": "req-1"})
    assert answer.status_code == 200
    told = answer.json()
    assert (told["request_id"], told["waited_s"], told["position"]) == ("req-1", 2.1, 3)
    assert [one["chosen"] for one in told["decisions"]] == ["27b-a", "27b-e"]


@pytest.mark.parametrize(
    ("query", "begins"),
    [
        ({}, "Request req-1 asked for"),
        ({"lang": "en"}, "Request req-1 asked for"),
        ({"lang": "zh"}, "请求 req-1 于"),
    ],
)
async def test_text(query: dict[str, str], begins: str) -> None:
    answer = await ask(site(filled()), {"request_id": "req-1", "format": "text", **query})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith(begins)
    assert answer.text.endswith("\n")


async def test_a_running_request_is_told_as_of_now() -> None:
    trails = Trails()
    trails.begin("r", "m", None, 190.0, 0.0).joined(1, None, 195.0)
    told = (await ask(site(trails), {"request_id": "r"})).json()
    assert (told["is_running"], told["took_s"], told["waited_s"]) == (True, 10.0, 5.0)


@pytest.mark.parametrize(
    ("query", "code", "param"),
    [
        ({}, "request_id_required", "request_id"),
        ({"request_id": ""}, "request_id_required", "request_id"),
        ({"request_id": "req-1", "format": "xml"}, "invalid_query", "format"),
        ({"request_id": "req-1", "format": "text", "lang": "fr"}, "invalid_query", "lang"),
    ],
)
async def test_a_question_that_is_wrong(query: dict[str, str], code: str, param: str) -> None:
    answer = await ask(site(filled()), query)
    assert answer.status_code == 400
    assert (error(answer)["code"], error(answer)["param"]) == (code, param)


async def test_a_request_that_is_not_kept() -> None:
    answer = await ask(site(filled()), {"request_id": "req-2"})
    assert answer.status_code == 404
    told = error(answer)
    assert told["code"] == "request_not_kept"
    assert "'req-2'" in told["message"]
    assert "the last 1000, now 1, since 2025-12-03 05:50:44 UTC" in told["message"]


async def test_before_the_first_request() -> None:
    answer = await ask(site(Trails()), {"request_id": "req-2"})
    assert answer.status_code == 404
    assert "has had none yet" in error(answer)["message"]


@pytest.mark.parametrize(
    ("keys", "is_open", "headers", "status"),
    [
        ((), True, {}, 200),
        ((), False, {}, 401),
        ((("a", "secret"),), True, {}, 401),
        ((("a", "secret"),), False, {"authorization": "Bearer wrong"}, 401),
        ((("a", "secret"),), False, {"authorization": "Bearer secret"}, 200),
    ],
)
async def test_who_may_ask(
    keys: tuple[tuple[str, str], ...], is_open: bool, headers: dict[str, str], status: int
) -> None:
    answer = await ask(site(filled(), keys, is_open=is_open), {"request_id": "req-1"}, **headers)
    assert answer.status_code == status
    assert ("decisions" in answer.text) == (status == 200)


async def test_who_may_not_ask_is_not_told_what_is_wrong_with_the_question() -> None:
    answer = await ask(site(filled(), (("a", "secret"),)), {})
    assert answer.status_code == 401

"""The routes that change what is in force: who may, what they answer, and every refusal."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from gateway.access.keys import Keyring
from gateway.api.admin_config import MAX_FILE_BYTES, config_routes
from gateway.api.control import Applied, DrainState, Entry, Preview
from gateway.api.site import build_site
from gateway.api.state import Site
from gateway.clock import Clock
from gateway.config.problems import Code, Problem, Severity
from gateway.config.schema import BackendConfig, RoutingConfig
from gateway.config.status import ConfigStatus
from gateway.fleet.registry import Registry
from gateway.observe.events import Events
from gateway.observe.logs import Log
from gateway.observe.metrics import Metrics
from gateway.observe.trails import Trails
from gateway.words import Words

LOSES = Words("m loses backend 27b-a", "m 失去后端 27b-a")
NOTE = Words("the file could not be written", "无法写入文件")
WRONG = tuple(
    Problem(
        Severity.ERROR,
        Code.WRONG_TYPE,
        "routes.yaml",
        line,
        1,
        "models",
        Words("'models' must be a list", "'models' 必须是列表"),
        Words("Write [a, b].", "写成 [a, b]。"),
    )
    for line in (3, 7)
)
ENTRIES = (
    Entry(1, "aaaaaaaaaaaa", "start", 1_700_000_000.1234, 10),
    Entry(2, "bbbbbbbbbbbb", "admin ops", 1_700_000_001.0, 11),
    Entry(3, "aaaaaaaaaaaa", "file", 1_700_000_002.0, 12),
)
ADMIN = {"authorization": "Bearer secret"}


class NoLines:
    def write(self, line: bytes) -> None: ...

    def close(self) -> None: ...


@dataclass
class FakeControl:
    """Answers as it is told to, and notes what it was asked."""

    result: Applied | None = None
    state: DrainState | None = None
    asked: list[tuple[object, ...]] = field(default_factory=list)

    async def reload(self, who: str) -> Applied:
        self.asked.append(("reload", who))
        assert self.result is not None
        return self.result

    async def preview(self, text: str, file: str) -> Preview:
        self.asked.append(("preview", text, file))
        is_usable = text != "wrong"
        problems = () if is_usable else WRONG
        return Preview("cccccccccccc", (LOSES,) if is_usable else (), problems, is_usable)

    async def rollback(self, version: str | None, who: str) -> Applied | None:
        self.asked.append(("rollback", version, who))
        return self.result

    async def history(self) -> tuple[Entry, ...]:
        return ENTRIES

    async def text_of(self, version: str) -> str | None:
        self.asked.append(("text_of", version))
        return "# 注释\nversion: 1\n" if version in ("aaaaaaaaaaaa", "2") else None

    async def drain(self, backend: str, reason: str, who: str) -> DrainState | None:
        self.asked.append(("drain", backend, reason, who))
        return self.state

    async def undrain(self, backend: str, who: str) -> DrainState | None:
        self.asked.append(("undrain", backend, who))
        return self.state

    def draining(self, backend: str) -> DrainState | None:
        self.asked.append(("draining", backend))
        return self.state


def backend(name: str, *, enabled: bool = True) -> BackendConfig:
    return BackendConfig(name=name, url=f"http://{name}:1", served_name="q", enabled=enabled)


def site(
    control: FakeControl, keys: tuple[tuple[str, str], ...] = (), *, is_open: bool = True
) -> Site:
    log = Log(NoLines(), lambda: 0.0)
    backends = (backend("27b-a"), backend("9b"), backend("spare", enabled=False))
    return Site(
        fleet=Registry(RoutingConfig(version=1, backends=backends, models=()), "aaaaaaaaaaaa", 0.0),
        keys=Keyring((), b"salt"),
        admin_keys=Keyring(keys, b"salt"),
        metrics=Metrics(),
        events=Events(log, lambda: 0.0),
        log=log,
        clock=Clock(lambda: 200.0, lambda: 0.0),
        version="1",
        created_s=0,
        control=control,
        config_status=lambda: ConfigStatus("aaaaaaaaaaaa", "start", 0.0),
        is_draining=lambda: False,
        waiting=lambda model: 0,
        is_admin_open=is_open,
        trails=Trails(),
    )


async def ask(
    one: Site,
    method: str,
    path: str,
    query: dict[str, str] | None = None,
    content: bytes | AsyncIterator[bytes] | None = None,
    **headers: str,
) -> httpx.Response:
    app = build_site(one)
    app.include_router(config_routes(one))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        return await client.request(
            method, f"/admin{path}", params=query, content=content, headers=headers
        )


def error(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    told: dict[str, Any] = answer.json()["error"]
    assert set(told) == {"message", "type", "param", "code"}
    return told


ROUTES = (
    ("POST", "/reload"),
    ("GET", "/config/history"),
    ("GET", "/config/history/aaaaaaaaaaaa"),
    ("POST", "/config/diff"),
    ("POST", "/config/rollback"),
    ("POST", "/backends/9b/drain"),
    ("POST", "/backends/9b/undrain"),
    ("GET", "/backends/9b"),
)
FULL = FakeControl(
    Applied("applied", "bbbbbbbbbbbb", "admin ops", (LOSES,), (), None),
    DrainState("9b", 2, 1, is_draining=True),
)


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    ("keys", "is_open", "headers", "status"),
    [
        ((), True, {}, 200),
        ((), False, {}, 401),
        ((("ops", "secret"),), True, {}, 401),
        ((("ops", "secret"),), False, {"authorization": "Bearer wrong"}, 401),
        ((("ops", "secret"),), False, ADMIN, 200),
        ((("ops", "secret"),), True, {**ADMIN, "origin": "https://evil.example"}, 200),
    ],
)
async def test_who_may(
    method: str,
    path: str,
    keys: tuple[tuple[str, str], ...],
    is_open: bool,
    headers: dict[str, str],
    status: int,
) -> None:
    control = FakeControl(FULL.result, FULL.state)
    answer = await ask(site(control, keys, is_open=is_open), method, path, **headers)
    assert answer.status_code == status, answer.text
    if status != 200:
        assert not control.asked


@pytest.mark.parametrize(
    ("origin", "host", "may"),
    [
        ("http://gateway", "gateway", True),
        ("http://127.0.0.1:8000", "127.0.0.1:8000", True),
        ("https://evil.example", "gateway", False),
        ("http://gateway:81", "gateway", False),
        ("null", "gateway", False),
        ("", "gateway", False),
    ],
)
@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_pages_of_other_sites_change_nothing_where_no_key_is_needed(
    method: str, path: str, origin: str, host: str, may: bool
) -> None:
    control = FakeControl(FULL.result, FULL.state)
    answer = await ask(site(control), method, path, origin=origin, host=host)
    assert answer.status_code == (200 if may or method == "GET" else 401)
    if answer.status_code != 200:
        assert "web page" in error(answer, 401)["message"]
        assert not control.asked


async def test_the_name_of_the_key_is_who_did_it() -> None:
    control = FakeControl(FULL.result, FULL.state)
    one = site(control, (("ops", "secret"),))
    await ask(one, "POST", "/reload", **ADMIN)
    await ask(one, "POST", "/config/rollback", {"version": "bbbbbbbbbbbb"}, **ADMIN)
    await ask(one, "POST", "/config/rollback", **ADMIN)
    await ask(one, "POST", "/backends/9b/drain", {"reason": " 换卡　明天 "}, **ADMIN)
    await ask(one, "POST", "/backends/9b/undrain", **ADMIN)
    assert control.asked == [
        ("reload", "admin ops"),
        ("rollback", "bbbbbbbbbbbb", "admin ops"),
        ("rollback", None, "admin ops"),
        ("drain", "9b", "换卡　明天", "admin ops"),
        ("undrain", "9b", "admin ops"),
    ]
    anyone = FakeControl(FULL.result)
    await ask(site(anyone), "POST", "/reload")
    assert anyone.asked == [("reload", "admin anonymous")]


@pytest.mark.parametrize(
    ("lang", "change", "note"),
    [
        ("en", {"en": LOSES.en}, {"en": NOTE.en}),
        ("zh", {"en": LOSES.en, "zh": LOSES.zh}, {"en": NOTE.en, "zh": NOTE.zh}),
    ],
)
@pytest.mark.parametrize("path", ["/reload", "/config/rollback"])
async def test_what_was_applied(
    path: str, lang: str, change: dict[str, str], note: dict[str, str]
) -> None:
    control = FakeControl(Applied("applied", "bbbbbbbbbbbb", "admin ops", (LOSES,), (), NOTE))
    answer = await ask(site(control), "POST", path, {"lang": lang})
    assert answer.status_code == 200
    assert answer.json() == {
        "result": "applied",
        "version": "bbbbbbbbbbbb",
        "who": "admin ops",
        "changes": [change],
        "problems": [],
        "note": note,
    }


@pytest.mark.parametrize("path", ["/reload", "/config/rollback"])
async def test_a_refused_file_tells_all_its_problems(path: str) -> None:
    control = FakeControl(Applied("refused", "aaaaaaaaaaaa", "admin ops", (), WRONG))
    answer = await ask(site(control), "POST", path, {"lang": "zh"})
    told = error(answer, 422)
    assert (told["code"], told["type"]) == ("config_refused", "invalid_request_error")
    assert "version aaaaaaaaaaaa stays in force: routes.yaml:" in told["message"]
    assert "the first of 2 errors" in told["message"]
    body = answer.json()
    assert body["text"]["en"] == told["message"]
    assert body["text"]["zh"].startswith("路由文件未被采用")
    assert (body["result"], body["version"]) == ("refused", "aaaaaaaaaaaa")
    assert [problem["code"] for problem in body["problems"]] == [p.code.value for p in WRONG]
    assert body["problems"][0]["text"]["en"] == WRONG[0].render()
    assert "错误" in body["problems"][0]["text"]["zh"]


async def test_a_refusal_without_a_problem_gives_its_note() -> None:
    control = FakeControl(Applied("refused", "aaaaaaaaaaaa", "x", (), (), NOTE))
    told = error(await ask(site(control), "POST", "/reload"), 422)
    assert told["message"].endswith(f"stays in force: {NOTE.en}")


async def test_the_history_marks_the_newest_of_the_version_in_force() -> None:
    answer = await ask(site(FakeControl()), "GET", "/config/history")
    body = answer.json()
    assert body["in_force"] == "aaaaaaaaaaaa"
    assert [(e["number"], e["version"], e["is_in_force"]) for e in body["entries"]] == [
        (1, "aaaaaaaaaaaa", False),
        (2, "bbbbbbbbbbbb", False),
        (3, "aaaaaaaaaaaa", True),
    ]
    assert body["entries"][0]["when_s"] == 1_700_000_000.123
    assert (body["entries"][1]["who"], body["entries"][1]["size_bytes"]) == ("admin ops", 11)


@pytest.mark.parametrize("key", ["aaaaaaaaaaaa", "2"])
async def test_the_text_of_a_version(key: str) -> None:
    answer = await ask(site(FakeControl()), "GET", f"/config/history/{key}")
    assert (answer.status_code, answer.text) == (200, "# 注释\nversion: 1\n")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("method", "path", "query"),
    [
        ("GET", "/config/history/ffffffffffff", {}),
        ("POST", "/config/rollback", {"version": "ffffffffffff"}),
        ("POST", "/config/rollback", {"version": ""}),
        ("POST", "/config/rollback", {}),
    ],
)
async def test_a_version_that_is_not_kept(method: str, path: str, query: dict[str, str]) -> None:
    control = FakeControl()
    answer = await ask(site(control), method, path, {**query, "lang": "zh"})
    told = error(answer, 404)
    assert (told["code"], told["param"]) == ("version_not_kept", "version")
    assert set(answer.json()["text"]) == {"en", "zh"}
    if query.get("version") == "":
        assert not control.asked


async def test_a_look_ahead() -> None:
    control = FakeControl()
    text = "\ufeffversion: 1  # 注释\r\n"
    answer = await ask(
        site(control), "POST", "/config/diff", {"file": "new.yaml", "lang": "zh"}, text.encode()
    )
    assert answer.status_code == 200
    assert answer.json() == {
        "version": "cccccccccccc",
        "in_force": "aaaaaaaaaaaa",
        "is_usable": True,
        "changes": [{"en": LOSES.en, "zh": LOSES.zh}],
        "problems": [],
    }
    assert control.asked == [("preview", "version: 1  # 注释\r\n", "new.yaml")]


async def test_a_look_ahead_at_a_file_with_errors_is_no_failure() -> None:
    answer = await ask(site(FakeControl()), "POST", "/config/diff", content=b"wrong")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["is_usable"], body["changes"]) == (False, [])
    assert len(body["problems"]) == len(WRONG)


async def in_pieces(size_bytes: int) -> AsyncIterator[bytes]:
    while size_bytes > 0:
        yield b" " * min(size_bytes, 65536)
        size_bytes -= 65536


async def test_a_file_may_not_be_larger_than_a_mebibyte() -> None:
    control = FakeControl()
    answer = await ask(site(control), "POST", "/config/diff", None, in_pieces(MAX_FILE_BYTES))
    assert answer.status_code == 200
    answer = await ask(site(control), "POST", "/config/diff", None, in_pieces(MAX_FILE_BYTES + 1))
    assert error(answer, 413)["code"] == "request_too_large"
    assert len(control.asked) == 1


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"version: \xff", {}, 400, "invalid_encoding"),
        (b"x", {"content-encoding": "gzip"}, 415, "unsupported_media_type"),
    ],
)
async def test_a_body_that_is_no_text(
    content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    answer = await ask(site(FakeControl()), "POST", "/config/diff", None, content, **headers)
    assert error(answer, status)["code"] == code


@pytest.mark.parametrize(("method", "path"), [(m, p) for m, p in ROUTES if p != "/config/history"])
async def test_a_language_that_is_not_spoken(method: str, path: str) -> None:
    control = FakeControl(FULL.result, FULL.state)
    told = error(await ask(site(control), method, path, {"lang": "fr"}), 400)
    assert (told["code"], told["param"]) == ("invalid_query", "lang")
    assert not control.asked


@pytest.mark.parametrize("value", ["x" * 501, "a\nb", "\x1b[31m", "a\u202eb"])
@pytest.mark.parametrize(
    ("path", "param"), [("/config/diff", "file"), ("/backends/9b/drain", "reason")]
)
async def test_a_text_that_can_not_be_shown(path: str, param: str, value: str) -> None:
    control = FakeControl(FULL.result, FULL.state)
    told = error(await ask(site(control), "POST", path, {param: value}), 400)
    assert (told["code"], told["param"]) == ("invalid_query", param)
    assert not control.asked


BACKEND_ROUTES = (("GET", ""), ("POST", "/drain"), ("POST", "/undrain"))


@pytest.mark.parametrize(("method", "action"), BACKEND_ROUTES)
async def test_how_far_a_backend_is(method: str, action: str) -> None:
    state = DrainState("9b", 2, 1, is_draining=True, note=NOTE)
    answer = await ask(
        site(FakeControl(state=state)), method, f"/backends/9b{action}", {"lang": "zh"}
    )
    assert answer.status_code == 200
    assert answer.json() == {
        "backend": "9b",
        "in_flight": 2,
        "waiting": 1,
        "is_draining": True,
        "note": {"en": NOTE.en, "zh": NOTE.zh},
    }


@pytest.mark.parametrize(("method", "action"), BACKEND_ROUTES)
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("27B-a", "There is no backend '27B-a' here. Did you mean '27b-a'? Backends: 27b-a, 9b."),
        ("spare", "The routing file disables it"),
        ("zzzzzz", "There is no backend 'zzzzzz' here. Backends: 27b-a, 9b."),
        ("x" * 3000, "Backends: 27b-a, 9b."),
    ],
)
async def test_a_backend_that_is_not_there(method: str, action: str, name: str, told: str) -> None:
    answer = await ask(site(FakeControl()), method, f"/backends/{name}{action}", {"lang": "zh"})
    found = error(answer, 404)
    assert (found["code"], found["param"]) == ("backend_unknown", "backend")
    assert told in found["message"]
    assert "没有名为" in answer.json()["text"]["zh"]
    assert len(found["message"]) < 400


async def test_changes_are_asked_for_by_post_only() -> None:
    control = FakeControl(FULL.result, FULL.state)
    for path in ("/reload", "/config/rollback", "/backends/9b/drain", "/backends/9b/undrain"):
        answer = await ask(site(control), "GET", path)
        assert error(answer, 405)["code"] == "method_not_allowed"
    assert not control.asked

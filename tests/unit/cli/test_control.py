"""The commands reload, drain and undrain: what they ask, what they print, how they exit."""

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

import click
import pytest

from gateway.api.control import Applied, DrainState
from gateway.cli.control import drain, reload, undrain
from gateway.words import Words
from tests.unit.api.test_admin_config import LOSES, NOTE, WRONG, FakeControl
from tests.unit.cli.running import run, running

APPLIED = Applied("applied", "bbbbbbbbbbbb", "admin ops", (LOSES,))


@pytest.mark.parametrize(
    ("result", "words", "status", "told"),
    [
        (
            APPLIED,
            [],
            0,
            "Version bbbbbbbbbbbb is in force now.\n  - m loses backend 27b-a\n",
        ),
        (APPLIED, ["--lang", "zh"], 0, "版本 bbbbbbbbbbbb 现已生效。\n  - m 失去后端 27b-a\n"),
        (
            Applied("unchanged", "aaaaaaaaaaaa", "x", note=NOTE),
            [],
            0,
            f"Nothing changes: version aaaaaaaaaaaa stays in force.\n{NOTE.en}\n",
        ),
        (
            Applied("refused", "aaaaaaaaaaaa", "x", problems=WRONG),
            [],
            1,
            "\n".join(p.render() for p in WRONG)
            + "\nRefused, with errors: 2. Version aaaaaaaaaaaa stays in force.\n",
        ),
    ],
)
def test_reload(result: Applied, words: list[str], status: int, told: str) -> None:
    control = FakeControl(result)
    with running(control) as port:
        done = run(reload, words, port)
    assert (done.exit_code, done.stdout, done.stderr) == (status, told, "")
    assert control.asked == [("reload", "admin anonymous")]


@pytest.mark.parametrize("status", [0, 1])
def test_reload_for_programs(status: int) -> None:
    result = Applied("refused", "a", "x", problems=WRONG) if status else APPLIED
    with running(FakeControl(result)) as port:
        done = run(reload, ["--json"], port)
    tree = json.loads(done.stdout)
    assert (done.exit_code, tree["result"]) == (status, result.result)
    assert ("error" in tree) == bool(status)


def test_the_admin_key_is_sent_and_its_name_is_who_did_it() -> None:
    control = FakeControl(APPLIED)
    with running(control, "s3cret") as port:
        closed = run(reload, [], port)
        done = run(reload, [], port, ASCEND_GATEWAY_ADMIN_KEYS="s3cret")
    assert (closed.exit_code, done.exit_code) == (2, 0)
    assert "--admin-keys-file" in closed.stderr
    assert control.asked == [("reload", "admin ops")]


@pytest.mark.parametrize(
    ("command", "words"),
    [(reload, []), (drain, ["9b"]), (drain, ["9b", "--wait"]), (undrain, ["9b"])],
)
@pytest.mark.parametrize(("language", "told"), [("en", "can't be reached"), ("zh", "无法连接")])
def test_nothing_listens_there(
    command: click.Command, words: list[str], language: str, told: str
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        done = run(command, [*words, "--lang", language], free.getsockname()[1])
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr


@dataclass
class Draining(FakeControl):
    """A backend that is taken out; each look at it gives the next state."""

    looks: Iterator[DrainState | None] = field(default_factory=lambda: repeat(None))

    def draining(self, backend: str) -> DrainState | None:
        return next(self.looks)


def out(in_flight: int, waiting: int = 0, note: Words | None = None) -> DrainState:
    return DrainState("9b", in_flight, waiting, is_draining=True, note=note)


def test_drain() -> None:
    control = FakeControl(state=out(3))
    with running(control) as port:
        done = run(drain, ["9b", "--reason", "换卡"], port)
        chinese = run(drain, ["9b", "--lang", "zh"], port)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        "Backend 9b takes no new requests. Requests that run there: 3.\n"
        "Neither a reload nor a restart of the gateway undoes this; `ascend-gateway undrain 9b` "
        "does.\n"
    )
    assert chinese.stdout.startswith("后端 9b 不再接收新请求。")
    assert control.asked[0] == ("drain", "9b", "换卡", "admin anonymous")


def test_a_drain_that_a_restart_undoes_is_not_promised_to_last() -> None:
    with running(FakeControl(state=out(0, note=NOTE))) as port:
        done = run(drain, ["9b"], port)
    assert "A reload does not undo this" in done.stdout
    assert "restart" not in done.stdout
    assert done.stdout.endswith(f"{NOTE.en}\n")


def looks(*states: DrainState | None) -> Iterator[DrainState | None]:
    return chain(states, repeat(states[-1]))


@pytest.mark.parametrize(
    ("states", "status", "lines"),
    [
        (
            looks(out(3, 1), out(3, 1), out(1), out(0)),
            0,
            [
                "9b: requests that still run there: 3; that wait for its models: 1",
                "9b: requests that still run there: 1; that wait for its models: 0",
                "9b: nothing runs there any more, after 0 s.",
            ],
        ),
        (looks(None), 0, ["9b: the gateway has no such backend any more, after 0 s."]),
        (
            looks(DrainState("9b", 2, 0, is_draining=False)),
            1,
            ["9b: somebody has put it back in, after 0 s; it takes new requests."],
        ),
    ],
)
def test_waiting(states: Iterator[DrainState | None], status: int, lines: list[str]) -> None:
    with running(Draining(state=out(3), looks=states)) as port:
        done = run(drain, ["9b", "--wait", "--interval", "0.01"], port)
    assert (done.exit_code, done.stdout.splitlines()[2:]) == (status, lines)


def test_the_time_runs_out() -> None:
    with running(Draining(state=out(2), looks=looks(out(2)))) as port:
        done = run(drain, ["9b", "--wait", "--timeout", "0"], port)
    assert done.exit_code == 3
    assert "requests that still run there: 2. It stays taken out" in done.stdout


def test_waiting_for_programs() -> None:
    with running(Draining(state=out(2), looks=looks(out(1), out(0)))) as port:
        done = run(drain, ["9b", "--wait", "--json", "--interval", "0.01"], port)
    tree: dict[str, Any] = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (tree["backend"], tree["in_flight"], tree["ended"]) == ("9b", 0, "empty")
    assert "still run there: 1" in done.stderr


def test_an_interrupted_wait_leaves_the_backend_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupted)
    with running(Draining(state=out(2), looks=looks(out(2)))) as port:
        done = run(drain, ["9b", "--wait"], port)
    assert done.exit_code == 130
    assert done.stderr.startswith("9b: not waited for any longer; it stays taken out")


def test_undrain() -> None:
    control = FakeControl(state=DrainState("9b", 0, 0, is_draining=False, note=NOTE))
    with running(control) as port:
        done = run(undrain, ["9b"], port)
        for_programs = run(undrain, ["9b", "--json"], port)
    assert (done.exit_code, done.stdout) == (0, f"Backend 9b is used again.\n{NOTE.en}\n")
    assert json.loads(for_programs.stdout)["is_draining"] is False
    assert control.asked[0] == ("undrain", "9b", "admin anonymous")


@pytest.mark.parametrize("command", [drain, undrain])
@pytest.mark.parametrize(
    ("name", "language", "told"),
    [
        ("9B", "en", "There is no backend '9B' here. Did you mean '9b'? Backends: 27b-a, 9b."),
        ("9B", "zh", "没有名为 '9B' 的后端。是否想写 '9b'？现有后端：27b-a, 9b。"),
        ("a b?\x1b[31m", "en", "There is no backend 'a b? [31m' here. Backends: 27b-a, 9b."),
    ],
)
def test_a_backend_that_is_not_there(
    command: click.Command, name: str, language: str, told: str
) -> None:
    with running(FakeControl()) as port:
        done = run(command, [name, "--lang", language], port)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"{told}\n")


@pytest.mark.parametrize(
    "words", [[], ["9b", "--timeout", "-1"], ["9b", "--interval", "0"], ["9b", "--timeout", "nan"]]
)
def test_wrong_arguments(words: list[str]) -> None:
    assert run(drain, words).exit_code == 2

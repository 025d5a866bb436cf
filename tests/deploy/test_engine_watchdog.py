"""one_token.py tells a hung engine from a busy one, against servers that behave like either."""

import json
import re
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.engine_templates import BACKENDS, COMPOSE, KUBERNETES, NAMES, printed
from tests.deploy.gateway_tools import run

WATCH_S, ANSWER_S = 0.2, 1.0


@dataclass
class Engine:
    """A server as the engine shows itself; `per_s` tokens come by themselves."""

    answers: int | None = 200
    per_s: float = 0.0
    says_metrics: bool = True
    began: float = field(default_factory=time.monotonic)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)

    def reply(self, path: str, body: dict[str, Any]) -> tuple[int, str] | None:
        if path == "/metrics":
            made = int((time.monotonic() - self.began) * self.per_s)
            # A shape of numbers as Prometheus writes them, and a histogram that is none of them.
            text = (
                f'vllm:prompt_tokens_total{{engine="0",model_name="q"}} {made}.0\n'
                f'vllm:generation_tokens_total{{engine="0",model_name="q"}} 1.5e+06\n'
                f"vllm:generation_tokens_created {time.monotonic()}\n"
            )
            return (200, text) if self.says_metrics else (503, "")
        if path == "/v1/models":
            return 200, json.dumps({"data": [{"id": "q"}]})
        self.asked.append(body)
        return None if self.answers is None else (self.answers, "{}")


@contextmanager
def serving(engine: Engine) -> Iterator[str]:
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer({})

        def do_POST(self) -> None:
            self.answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def answer(self, body: dict[str, Any]) -> None:
            engine.keys.add(self.headers["authorization"])
            reply = engine.reply(self.path, body)
            if reply is None:
                closing.wait(10)
                return
            self.send_response(reply[0])
            self.end_headers()
            self.wfile.write(reply[1].encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def verdict(url: str, tmp_path: Path) -> tuple[int, str]:
    key = tmp_path / "engine.yaml"
    key.write_text('# said\napi-key: "abc"\n', encoding="utf-8")
    done = run(
        sys.executable,
        BACKENDS / "one_token.py",
        env={
            "ENGINE_URL": url,
            "ENGINE_KEY_FILE": str(key),
            "ENGINE_WATCH_S": str(WATCH_S),
            "ENGINE_ANSWER_S": str(ANSWER_S),
        },
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("engine", "status", "said", "questions"),
    [
        (Engine(per_s=100), 0, "tokens are being made", 0),
        (Engine(), 0, "one token came", 1),
        # Slower than it is watched for, and too full to answer: busy.
        (Engine(answers=None, per_s=1.5), 0, "busy", 1),
        (Engine(answers=None), 1, "no token in 1 s, for nobody", 1),
        (Engine(answers=500), 1, "it answers 500", 1),
        (Engine(answers=401), 0, "it answers 401", 1),
        (Engine(says_metrics=False), 1, "answers 503", 0),
    ],
    ids=["working", "idle", "busy", "hung", "dead", "other key", "closing"],
)
def test_what_is_said_of_an_engine(
    engine: Engine, status: int, said: str, questions: int, tmp_path: Path
) -> None:
    engine.began = time.monotonic()
    with serving(engine) as url:
        code, text = verdict(url, tmp_path)
    assert (code, said in text, len(engine.asked)) == (status, True, questions), text
    assert all(question["max_tokens"] == 1 for question in engine.asked)
    assert engine.keys == {"Bearer abc"}


def test_nothing_listens(tmp_path: Path) -> None:
    code, text = verdict("http://127.0.0.1:9", tmp_path)
    assert (code, "refused" in text) == (1, True)


def default(name: str) -> float:
    text = (BACKENDS / "one_token.py").read_text(encoding="utf-8")
    (found,) = re.findall(rf'"{name}", "(\d+)"', text)
    return float(found)


def test_the_numbers_fit_each_other() -> None:
    """As docs/backends.md argues them."""
    whole = 3 * 5.0 + default("ENGINE_WATCH_S") + default("ENGINE_ANSWER_S")
    slowest_prefill, engines_own_limit = 80.0, 300.0
    forms = []
    for name in NAMES:
        words = shlex.split(printed(name))
        options = ("--health-interval", "--health-timeout", "--health-retries")
        forms.append([float(words[words.index(o) + 1].rstrip("s")) for o in options])
    for file in COMPOSE:
        for service in yaml.safe_load(file.read_text(encoding="utf-8"))["services"].values():
            check = service["healthcheck"]
            numbers = (check["interval"], check["timeout"], check["retries"])
            forms.append([float(str(n).rstrip("s")) for n in numbers])
    for interval, timeout, retries in forms:
        # The check's own patience ends before docker ends the check.
        assert timeout > whole
        silence = retries * default("ENGINE_ANSWER_S") + (retries - 1) * interval
        assert slowest_prefill < silence < engines_own_limit
    for document in yaml.safe_load_all(KUBERNETES.read_text(encoding="utf-8")):
        if document["kind"] == "Deployment":
            probe = document["spec"]["template"]["spec"]["containers"][0]["livenessProbe"]
            assert probe["timeoutSeconds"] > whole
            assert probe["periodSeconds"] >= probe["timeoutSeconds"]
            silence = (probe["failureThreshold"] - 1) * probe["periodSeconds"]
            assert slowest_prefill < silence < engines_own_limit

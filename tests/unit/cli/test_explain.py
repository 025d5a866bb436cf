"""The command that asks a gateway why: addresses, keys, languages, exit status."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner, Result

from gateway.cli.explain import explain
from gateway.observe.explain import explain as explained
from gateway.observe.story import as_text
from gateway.observe.trails import Trails
from gateway.words import Language
from tests.unit.observe.placements import whole_story

DOCS = Path(__file__).parents[3] / "docs"
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"


class Gateway:
    """An HTTP server that gives one answer and notes what it was asked."""

    def __init__(self, status: int, body: str, content_type: str) -> None:
        self.asked: list[tuple[str, dict[str, list[str]], str | None]] = []
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlsplit(self.path)
                key = self.headers.get("authorization")
                gateway.asked.append((url.path, parse_qs(url.query), key))
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *arguments: object) -> None: ...

        self.server = HTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


@contextmanager
def answering(status: int, body: str, content_type: str = JSON) -> Iterator[Gateway]:
    gateway = Gateway(status, body, content_type)
    thread = Thread(target=gateway.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield gateway
    finally:
        gateway.server.shutdown()
        thread.join()
        gateway.server.server_close()


def failure(code: str, message: str) -> str:
    return json.dumps({"error": {"message": message, "code": code}})


def run(*arguments: str, **environment: str | None) -> Result:
    clean: dict[str, str | None] = {"LC_ALL": "", "LC_MESSAGES": "", "LANG": ""}
    clean |= {f"ASCEND_GATEWAY_{name}": None for name in ("HOST", "PORT", "ADMIN_KEYS")}
    clean |= {"ASCEND_GATEWAY_ADMIN_KEYS_FILE": None} | environment
    return CliRunner().invoke(explain, arguments, env=clean)


def test_text() -> None:
    with answering(200, "It went there.\n", TEXT) as gateway:
        result = run("req 1/ü", "--url", gateway.url)
    assert (result.exit_code, result.output) == (0, "It went there.\n")
    query = {"request_id": ["req 1/ü"], "format": ["text"], "lang": ["en"]}
    assert gateway.asked == [("/admin/explain", query, None)]


def test_json() -> None:
    with answering(200, '{"request_id":"r","error":"没有"}') as gateway:
        result = run("r", "--url", gateway.url, "--json")
    assert result.exit_code == 0
    assert result.output == '{\n  "request_id": "r",\n  "error": "没有"\n}\n'
    assert gateway.asked[0][1]["format"] == ["json"]


@pytest.mark.parametrize(
    ("options", "environment", "language"),
    [
        (["--lang", "zh"], {}, "zh"),
        (["--language", "zh"], {}, "zh"),
        ([], {"LANG": "zh_CN.UTF-8"}, "zh"),
        (["--lang", "en"], {"LANG": "zh_CN.UTF-8"}, "en"),
        ([], {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
    ],
)
def test_language(options: list[str], environment: dict[str, str], language: str) -> None:
    with answering(200, "...", TEXT) as gateway:
        assert run("r", "--url", gateway.url, *options, **environment).exit_code == 0
    assert gateway.asked[0][1]["lang"] == [language]


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/"])
def test_the_address_may_be_the_one_of_clients(tail: str) -> None:
    with answering(200, "...", TEXT) as gateway:
        assert run("r", "--url", gateway.url + tail).exit_code == 0
        assert run("r", "--url", gateway.url.removeprefix("http://") + tail).exit_code == 0
    assert [path for path, _, _ in gateway.asked] == ["/admin/explain"] * 2


@pytest.mark.parametrize("host", [None, "127.0.0.1", "0.0.0.0", "::"])
def test_without_an_address_it_asks_this_machine(host: str | None) -> None:
    with answering(200, "...", TEXT) as gateway:
        port = str(gateway.server.server_port)
        result = run("r", ASCEND_GATEWAY_HOST=host, ASCEND_GATEWAY_PORT=port)
    assert (result.exit_code, len(gateway.asked)) == (0, 1), result.output


def test_a_proxy_for_the_internet_is_not_asked() -> None:
    with answering(200, "...", TEXT) as gateway:
        assert run("r", "--url", gateway.url, HTTP_PROXY="http://127.0.0.1:9").exit_code == 0


@pytest.mark.parametrize(
    ("option", "environment"),
    [
        (True, {}),
        (False, {"ASCEND_GATEWAY_ADMIN_KEYS": "ops=s3cret"}),
        (False, {"ASCEND_GATEWAY_ADMIN_KEYS_FILE": "FILE"}),
    ],
)
def test_the_key(option: bool, environment: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# operators\nops=s3cret\nother\n")
    options = ["--admin-keys-file", str(file)] if option else []
    known = {name: value.replace("FILE", str(file)) for name, value in environment.items()}
    with answering(200, "...", TEXT) as gateway:
        result = run("r", "--url", gateway.url, *options, **known)
    assert (result.exit_code, gateway.asked[0][2]) == (0, "Bearer s3cret")


def test_keys_that_can_not_be_used(tmp_path: Path) -> None:
    result = run("r", "--admin-keys-file", str(tmp_path / "nothing"))
    assert result.exit_code == 2
    assert "the admin keys can't be used" in result.stderr


def test_a_request_that_is_not_kept() -> None:
    with answering(404, failure("request_not_kept", "It is not kept.")) as gateway:
        result = run("r", "--url", gateway.url)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "It is not kept.\n")


@pytest.mark.parametrize(
    ("status", "body", "content_type", "told"),
    [
        (401, failure("api_key_required", "There is no key."), JSON, "--admin-keys-file"),
        (403, "no", TEXT, "no Name a file"),
        (404, failure("unknown_route", "There is no such path."), JSON, "not an engine"),
        (404, '{"detail":"Not Found"}', JSON, "not an engine"),
        (200, "<html>hello</html>", "text/html", "not an engine"),
        (500, "[]", JSON, "it answered 500: []"),
        (503, "", TEXT, "it answered 503: nothing more."),
    ],
)
def test_a_gateway_that_does_not_tell(status: int, body: str, content_type: str, told: str) -> None:
    with answering(status, body, content_type) as gateway:
        result = run("r", "--url", gateway.url)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(gateway.url)
    assert told in result.stderr


def test_no_json_where_json_was_asked_for() -> None:
    with answering(200, "hello", TEXT) as gateway:
        assert run("r", "--url", gateway.url, "--json").exit_code == 2


def test_nothing_listens_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        result = run("r", "--url", url)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"{url}: can't be reached: ")
    assert "--url" in result.stderr


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "http://127.0.0.1:port", "http://"])
def test_an_address_that_is_none(url: str) -> None:
    result = run("r", "--url", url)
    assert result.exit_code == 2
    assert "can't be reached" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["r", "--lang", "fr"]])
def test_wrong_arguments(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize(("language", "page"), [("en", "explain.md"), ("zh", "zh/explain.md")])
def test_the_example_in_the_documents_is_real(language: str, page: str) -> None:
    told = as_text(explained(whole_story(Trails())), Language(language))
    assert f"```\n{told}\n```" in (DOCS / page).read_text(encoding="utf-8")

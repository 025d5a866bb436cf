"""Byte equality with real vLLM: what the engine answered is what the client gets.

Each capture of 01 to 13 is replayed, chunk framing included, behind a gateway. Either the answer
equals the engine's after the name rewrite, or the capture stands in a table that says why not.
"""

from dataclasses import dataclass
from urllib.parse import quote

import pytest

from tests.support import captures
from tests.support.captures import SERVED, Capture
from tests.support.gateway import GatewayClient, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import one_model
from tests.support.upstream import Exchange, ScriptedUpstream

ALIAS = "a/longer:public 名字"
PREFIXES = tuple(f"{number:02d}_" for number in range(1, 14))


@dataclass(frozen=True, slots=True)
class Ours:
    """A request that the gateway answers by itself, why, and how."""

    why: str
    statuses: tuple[int, ...]
    codes: tuple[str | None, ...] = (None,)


_OWN_HEALTH = "health is the gateway's: it tells of all backends, as JSON"
_PRIVATE = "the path is the engine's own affair: never forwarded"
_UNKNOWN_NAME = "an unknown name is refused here, with close matches, before any backend"
_NO_MODEL = "without a default model a request must name its model; the engine would take any"
_NOT_JSON = "the body is read here for its model, so what is no JSON object ends here"

NOT_FOUND = ((404,), ("unknown_route",))
NO_SUCH_MODEL = ((404,), ("model_not_found",))
BAD_MODEL = ((400,), ("model_required",))

OURS = {
    "01_health": Ours(_OWN_HEALTH, (200,)),
    "01_health_head": Ours(_OWN_HEALTH + ", and HEAD works", (200,)),
    "01_version": Ours("the version is the gateway's", (200,)),
    "01_ping": Ours(_PRIVATE, *NOT_FOUND),
    "01_load": Ours(_PRIVATE, *NOT_FOUND),
    "01_server_info": Ours(_PRIVATE, *NOT_FOUND),
    "01_is_sleeping": Ours(_PRIVATE, *NOT_FOUND),
    "01_unknown_path": Ours("no {'detail'} here, but the error envelope", *NOT_FOUND),
    "01_get_on_post_route": Ours(
        "no {'detail'} here, but the error envelope", (405,), ("method_not_allowed",)
    ),
    "01_trailing_slash": Ours("no redirect to a backend's address: a slash is forgiven", (200,)),
    "02_models": Ours("the list is built from the routing file, without paths", (200,)),
    "02_models_one": Ours("one model can be retrieved here; the engine has no such route", (200,)),
    "03_tokenize_unknown_model": Ours(_UNKNOWN_NAME, *NO_SUCH_MODEL),
    "08_err_unknown_model_chat": Ours(_UNKNOWN_NAME, *NO_SUCH_MODEL),
    "08_err_unknown_model_comp": Ours(_UNKNOWN_NAME, *NO_SUCH_MODEL),
    "08_err_unknown_model_stream": Ours(_UNKNOWN_NAME, *NO_SUCH_MODEL),
    "08_model_wrong_case": Ours(_UNKNOWN_NAME, *NO_SUCH_MODEL),
    "09_responses_unknown_model": Ours(_UNKNOWN_NAME, *NO_SUCH_MODEL),
    "10_messages_unknown_model": Ours(_UNKNOWN_NAME, *NO_SUCH_MODEL),
    "08_model_empty_string": Ours(_NO_MODEL, *BAD_MODEL),
    "08_model_missing": Ours(_NO_MODEL, *BAD_MODEL),
    "08_model_null": Ours(_NO_MODEL, *BAD_MODEL),
    "08_model_number": Ours("a number is no name; the engine says so with 400 too", *BAD_MODEL),
    "08_err_bad_json": Ours(_NOT_JSON, (400,), ("invalid_json",)),
    "08_err_empty_body": Ours(_NOT_JSON, (400,), ("invalid_json", "model_required")),
    "08_err_json_array": Ours(_NOT_JSON, (400,), ("invalid_json", "model_required")),
    "08_err_not_utf8": Ours(_NOT_JSON, (400,), ("invalid_encoding",)),
    "09_responses_get_unknown": Ours("stored responses are not served here", *NOT_FOUND),
    "11_audio": Ours(
        "audio takes forms only, since the model is read from one",
        (400, 415),
        ("invalid_multipart", "unsupported_media_type"),
    ),
    "12_cors_preflight": Ours("which browsers may come is the gateway's setting", (204, 400, 405)),
    "13_abort_unknown": Ours(_PRIVATE, *NOT_FOUND),
    "13_generate_tokens": Ours(_PRIVATE, *NOT_FOUND),
    "13_render_chat": Ours(_PRIVATE, *NOT_FOUND),
}

_DETAIL = "FastAPI's {'detail'} becomes the error envelope, status and text kept"
_ANTHROPIC = "for a client of /v1/messages an OpenAI error becomes Anthropic's, text kept"
WRAPPED = {
    "10_messages_no_max_tokens": (_ANTHROPIC, "body.max_tokens"),
    "11_embeddings": (_DETAIL, "Not Found"),
    "11_rerank": (_DETAIL, "Not Found"),
    "11_score": (_DETAIL, "Not Found"),
}

# The answer is the engine's, but the engine is asked differently from what the client sent.
_JSON_TYPE = "valid JSON is sent on as application/json, whatever the client called it"
ASKED_DIFFERENTLY = {
    "08_err_text_plain": _JSON_TYPE,
    "08_no_content_type": _JSON_TYPE,
    "12_hdr_request_id": "each attempt gets a fresh id, since a repeated one can crash an engine",
}


async def replay(
    gateway: GatewayClient, upstream: ScriptedUpstream, capture: Capture, public: str
) -> RawAnswer:
    """Send the captured request under the public name; the upstream sends the captured bytes."""

    async def send_capture(exchange: Exchange) -> None:
        await exchange.write(capture.response)
        exchange.close()

    upstream.handlers["*"] = send_capture
    headers = [
        (name, value)
        for name, value in capture.headers
        if name.lower() not in ("host", "content-length")
    ]
    body = capture.body.replace(b'"%s"' % SERVED.encode(), b'"%s"' % public.encode())
    has_body = capture.method == "POST"
    target = capture.target.replace(SERVED, quote(public, safe=""))
    return await gateway.raw(capture.method, target, headers, body if has_body else None)


def renamed(answer: bytes, public: str) -> bytes:
    return answer.replace(b'"model":"%s"' % SERVED.encode(), b'"model":"%s"' % public.encode())


@pytest.mark.parametrize("public", [SERVED, ALIAS], ids=["same-name", "alias"])
@pytest.mark.parametrize("name", [n for n in captures.names(*PREFIXES) if n not in OURS])
async def test_an_answer_equals_the_engines(name: str, public: str) -> None:
    capture = captures.load(name)
    async with (
        ScriptedUpstream(SERVED) as upstream,
        running_gateway(one_model(upstream, public)) as gateway,
    ):
        answer = await replay(gateway, upstream, capture, public)
        assert answer.is_complete
        assert answer.status == capture.status
        assert answer.header("content-type") == capture.content_type
        if name in WRAPPED:
            assert WRAPPED[name][1] in answer.error["message"]
        else:
            assert answer.body == renamed(capture.answer, public)
        assert len(upstream.requests) == 1
        request = upstream.requests[0]
        assert (request.method, request.target) == (capture.method, capture.target)
        assert request.body == capture.body
        kept = [
            (key.lower(), value)
            for key, value in capture.headers
            if key.lower() in ("anthropic-version", "traceparent", "x-data-parallel-rank")
        ]
        assert set(kept) <= {(key.lower(), value) for key, value in request.headers}


@pytest.mark.parametrize("public", [SERVED, ALIAS], ids=["same-name", "alias"])
@pytest.mark.parametrize("name", sorted(OURS))
async def test_where_we_differ_no_backend_is_asked(name: str, public: str) -> None:
    capture = captures.load(name)
    ours = OURS[name]
    async with (
        ScriptedUpstream(SERVED) as upstream,
        running_gateway(one_model(upstream, public)) as gateway,
    ):
        if capture.method == "HEAD":
            answer = await gateway.raw("HEAD", capture.target)
        else:
            answer = await replay(gateway, upstream, capture, public)
        assert answer.status in ours.statuses, (ours.why, answer.body)
        assert upstream.requests == [], ours.why
        assert b'"detail"' not in answer.body
        if ours.codes != (None,):
            error = answer.json()["error"]
            assert error["code"] in ours.codes, ours.why
            assert error["message"]


@pytest.mark.parametrize("name", ["08_model_empty_string", "08_model_missing", "08_model_null"])
async def test_a_default_model_restores_equality(name: str) -> None:
    capture = captures.load(name)
    async with ScriptedUpstream(SERVED) as upstream:
        config = {**one_model(upstream), "default_model": SERVED}
        async with running_gateway(config) as gateway:
            answer = await replay(gateway, upstream, capture, SERVED)
            assert (answer.status, answer.body) == (capture.status, capture.answer)
            assert upstream.requests[0].json()["model"] == SERVED


@pytest.mark.parametrize("name", sorted(ASKED_DIFFERENTLY))
async def test_where_the_engine_is_asked_differently(name: str) -> None:
    capture = captures.load(name)
    async with ScriptedUpstream(SERVED) as upstream:
        async with running_gateway(one_model(upstream)) as gateway:
            await replay(gateway, upstream, capture, SERVED)
        request = upstream.requests[0]
        if name == "12_hdr_request_id":
            assert request.header("x-request-id") not in (None, "my-request-1")
        else:
            assert request.header("content-type") == "application/json"


def test_the_tables_name_captures_and_reasons() -> None:
    known = set(captures.names(*PREFIXES))
    for table in (OURS, WRAPPED, ASKED_DIFFERENTLY):
        assert set(table) <= known
    assert all(ours.why for ours in OURS.values())
    assert not set(OURS) & set(WRAPPED)

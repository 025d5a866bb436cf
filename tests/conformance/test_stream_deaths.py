"""How real vLLM dies, replayed: a client never takes half an answer for a whole one."""

from dataclasses import dataclass

import pytest

from tests.support import captures, wire
from tests.support.captures import SERVED
from tests.support.gateway import CHAT, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import one_model
from tests.support.upstream import Exchange, ScriptedUpstream

PATHS = {"chat": CHAT, "completions": "/v1/completions", "responses": "/v1/responses"}
BODIES = {
    "chat": {"messages": [{"role": "user", "content": "hi"}]},
    "completions": {"prompt": "hi"},
    "responses": {"input": "hi"},
}
ALIAS = "public-name"
ENGINE_TEXT = "EngineCore encountered an issue"
BUSY_TEXT = "The engine is currently busy"
STREAM_HEAD = wire.head(
    200,
    [
        ("date", "Mon, 30 Nov 2026 20:34:21 GMT"),
        ("server", "uvicorn"),
        ("content-type", "text/event-stream; charset=utf-8"),
        ("transfer-encoding", "chunked"),
    ],
)
# The captures hold only the last events; these begin the same streams.
FIRST = {
    "chat": b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":'
    b'"qwen3.5-9b","choices":[{"index":0,"delta":{"role":"assistant","content":""},'
    b'"logprobs":null,"finish_reason":null}]}\n\n',
    "completions": b'data: {"id":"cmpl-1","object":"text_completion","created":1,"model":'
    b'"qwen3.5-9b","choices":[{"index":0,"text":"a","logprobs":null,"finish_reason":null}]}\n\n',
    "responses": b'event: response.created\ndata: {"response":{"id":"resp_1","model":"qwen3.5-9b",'
    b'"status":"in_progress"},"sequence_number":0,"type":"response.created"}\n\n',
}


@dataclass(frozen=True, slots=True)
class Death:
    """One captured end of a stream."""

    capture: str
    protocol: str
    code: str | None

    @property
    def raw(self) -> bytes:
        return (
            STREAM_HEAD
            + wire.chunk(FIRST[self.protocol])
            + captures.tail_after_signal(self.capture)
        )

    @property
    def events(self) -> list[bytes]:
        body = self.raw.split(b"\r\n\r\n", 1)[1]
        return wire.split_events(wire.ChunkedBody().feed(body))


DEATHS = [
    Death("20_worker_killed_chat_stream", "chat", None),
    Death("20_worker_killed_completions_stream", "completions", None),
    Death("20_worker_killed_responses_stream", "responses", "backend_stream_cut"),
    Death("21_sigterm_error_chat_stream", "chat", None),
    Death("21_sigterm_error_completions_stream", "completions", None),
    Death("21_sigterm_error_responses_stream", "responses", "backend_stream_cut"),
    Death("22_sigterm_abort_chat_stream", "chat", "backend_aborted"),
    Death("22_sigterm_abort_completions_stream", "completions", "backend_aborted"),
]


async def ask(
    raw: bytes, protocol: str, public: str, *, stream: bool, hold: bool = False
) -> RawAnswer:
    """The gateway's answer where the backend sends `raw` and closes (or keeps silent)."""

    async def die(exchange: Exchange) -> None:
        await exchange.write(raw)
        if hold:
            await exchange.peer_closed()
        exchange.close()

    async with ScriptedUpstream(SERVED) as upstream:
        config = one_model(upstream, public, timeouts={"between_events_s": 0.5})
        async with running_gateway(config) as gateway:
            upstream.handlers["*"] = die
            body = {"model": public, **BODIES[protocol], "stream": stream}
            return await gateway.post(PATHS[protocol], body)


def assert_broken(answer: RawAnswer, death: Death, public: str) -> None:
    """All real events are there, then one error event, and no mark of a good end."""
    names = (b'"model":"qwen3.5-9b"', b'"model":"%s"' % public.encode())
    good = [
        one.replace(*names)
        for one in death.events
        if b'"error"' not in one and b'"abort"' not in one and one != wire.DONE
    ]
    assert answer.is_complete
    assert answer.events[: len(good)] == good
    assert len(answer.events) == len(good) + 1
    last = answer.events[-1]
    error = wire.event_json(last)["error"]
    assert {"message", "type", "param", "code"} <= set(error)
    if death.code is None:
        assert ENGINE_TEXT in error["message"]
    else:
        assert error["code"] == death.code
    if death.protocol == "responses":
        assert last.startswith(b"event: error\n")
    assert b"[DONE]" not in answer.body
    assert b"response.completed" not in answer.body
    assert b'"abort"' not in answer.body


@pytest.mark.parametrize("public", [SERVED, ALIAS])
@pytest.mark.parametrize("death", DEATHS, ids=lambda death: death.capture)
async def test_a_stream_that_died_looks_broken(death: Death, public: str) -> None:
    answer = await ask(death.raw, death.protocol, public, stream=True)
    assert answer.status == 200
    assert_broken(answer, death, public)


@pytest.mark.parametrize("protocol", sorted(PATHS))
async def test_a_stream_that_hangs_after_sigterm_is_ended(protocol: str) -> None:
    death = Death(f"23_sigterm_hang_{protocol}_stream", protocol, "backend_timeout")
    answer = await ask(death.raw, protocol, ALIAS, stream=True, hold=True)
    assert answer.status == 200
    assert_broken(answer, death, ALIAS)


@pytest.mark.parametrize(
    "name", ["20_worker_killed_chat_nonstream", "21_sigterm_error_chat_nonstream"]
)
async def test_a_request_that_died_is_a_server_error(name: str) -> None:
    answer = await ask(captures.tail_after_signal(name), "chat", ALIAS, stream=False)
    assert 500 <= answer.status <= 504
    assert ENGINE_TEXT in answer.error["message"]


async def test_an_aborted_answer_is_a_failure_although_it_says_200() -> None:
    tail = captures.tail_after_signal("22_sigterm_abort_chat_nonstream")
    body = (
        b'{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"qwen3.5-9b",'
        b'"choices":[{"index":0,"message":{"role":"assistan' + tail
    )
    assert b'"finish_reason":"abort"' in body
    head = wire.head(
        200, [("content-type", "application/json"), ("content-length", str(len(body)))]
    )
    answer = await ask(head + body, "chat", ALIAS, stream=False)
    assert answer.status == 502
    assert answer.error["code"] == "backend_aborted"


async def test_an_aborted_responses_stream_cannot_be_told_from_a_good_one() -> None:
    """vLLM says `response.completed`, status `completed`: nothing shows the abort."""
    tail = captures.tail_after_signal("22_sigterm_abort_responses_stream")
    data = (
        b'event: response.completed\ndata: {"response":{"id":"resp_1","model":"qwen3.5-9b",'
        b'"object":"response","output":[{"id":"msg_1","content":[],"role":"assistant'
        + tail.split(b"\n\n")[0]
        + b"\n\n"
    )
    raw = STREAM_HEAD + wire.chunk(FIRST["responses"]) + wire.chunk(data) + wire.LAST_CHUNK
    answer = await ask(raw, "responses", ALIAS, stream=True)
    renamed = (FIRST["responses"] + data).replace(b'"qwen3.5-9b"', b'"public-name"')
    assert answer.body == renamed


def admission(name: str) -> bytes:
    """The raw answer to a request over --max-num-queued-reqs."""
    for line in (captures.FOLDER / f"{name}.txt").read_text().splitlines():
        if BUSY_TEXT in line:
            literal = line[line.index("closed (FIN) b'") + len("closed (FIN) b'") : -1]
            return literal.encode().decode("unicode_escape").encode("latin-1")
    raise AssertionError(name)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_refused_admission_is_a_real_503(stream: bool) -> None:
    raw = admission("28_admission_stream" if stream else "28_admission_nonstream")
    assert raw.startswith(b"HTTP/1.1 200" if stream else b"HTTP/1.1 503")
    answer = await ask(raw, "chat", ALIAS, stream=stream)
    assert answer.status == 503
    assert BUSY_TEXT in answer.error["message"]
    assert b"[DONE]" not in answer.body

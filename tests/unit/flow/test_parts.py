"""The parts of the flow that hold something: bodies, spools, payloads, running requests, ids."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.errors import ClientGone, Outcome, Refusal
from gateway.flow.body import take_body
from gateway.flow.call import CONNECTION, Call
from gateway.flow.inflight import InFlight
from gateway.flow.payload import FormPayload, JsonPayload
from gateway.flow.request_ids import RequestIds
from gateway.flow.spool import Spool
from gateway.protocol.endpoints import BY_PATH
from gateway.protocol.multipart import MultipartModelScanner

MIB = 1024 * 1024


def receiving(*messages: dict[str, Any]) -> Any:
    rest: Iterator[dict[str, Any]] = iter(messages)

    async def receive() -> dict[str, Any]:
        return next(rest)

    return receive


def part(data: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": more}


GONE = {"type": "http.disconnect"}


async def test_bodies_come_whole_in_any_number_of_pieces() -> None:
    assert await take_body(receiving(part(b"abc")), [], 3) == b"abc"
    pieces = receiving(part(b"a", more=True), part(b"", more=True), part(b"bc"))
    assert await take_body(pieces, [], 3) == b"abc"


@pytest.mark.parametrize(
    ("messages", "headers", "outcome"),
    [
        ([part(b"abcd")], [], Outcome.BODY_TOO_LARGE),
        ([part(b"ab", more=True), part(b"cd")], [], Outcome.BODY_TOO_LARGE),
        ([], [(b"content-length", b"4")], Outcome.BODY_TOO_LARGE),
        ([], [(b"content-encoding", b"gzip")], Outcome.MEDIA_TYPE_UNSUPPORTED),
    ],
)
async def test_bodies_over_the_bound_are_refused(
    messages: list[dict[str, Any]], headers: list[tuple[bytes, bytes]], outcome: Outcome
) -> None:
    with pytest.raises(Refusal) as caught:
        await take_body(receiving(*messages), headers, 3)
    assert caught.value.outcome is outcome


async def test_a_client_that_leaves_while_sending() -> None:
    with pytest.raises(ClientGone):
        await take_body(receiving(part(b"a", more=True), GONE), [], 3)
    with pytest.raises(ClientGone):
        await take_body(receiving(GONE), [], 3)


@pytest.mark.parametrize("sizes", [[0], [10], [MIB, 1], [MIB + 1], [700_000] * 7 + [3]])
async def test_a_spool_gives_back_what_it_took_as_often_as_asked(sizes: list[int]) -> None:
    spool = Spool()
    whole = b""
    for number, size in enumerate(sizes):
        piece = bytes([number % 251]) * size
        whole += piece
        await spool.add(piece)
    for _ in range(2):
        assert b"".join([piece async for piece in spool.pieces()]) == whole
    assert spool.size_bytes == len(whole)
    assert ("file" in repr(spool)) == (len(whole) > MIB)
    spool.close()


def test_a_json_payload_changes_only_what_it_must() -> None:
    body = b'{"model":"a", "x":1}'
    payload = JsonPayload(body, "a")
    assert payload.body_for("a") is body
    assert payload.body_for("b") == b'{"model":"b", "x":1}'
    twice = b'{"model":"z","model":"a"}'
    assert JsonPayload(twice, "a").body_for("a") == b'{"model":"a","model":"a"}'
    escaped = b'{"\\u006dodel":"z","model":"a"}'
    assert JsonPayload(escaped, "a").body_for("a") == b'{"\\u006dodel":"a","model":"a"}'


async def test_a_form_payload_has_the_right_length_for_each_name() -> None:
    form = b'--B\r\nContent-Disposition: form-data; name="model"\r\n\r\nasked\r\n--B--\r\n'
    scanner = MultipartModelScanner(b"B")
    spool = Spool()
    scanner.feed(form)
    await spool.add(form)
    scanner.finish()
    with FormPayload(spool, scanner, b"multipart/form-data; boundary=B") as payload:
        for name in ("x", "a-much-longer-name"):
            source = payload.body_for(name)
            sent = b"".join([piece async for piece in source.chunks()])
            assert sent == form.replace(b"asked", name.encode())
            assert source.length_bytes == len(sent)


class Connection:
    def __init__(self) -> None:
        self.on_gone: Any = None

    def watch(self, on_gone: Any) -> None:
        self.on_gone = on_gone

    def unwatch(self) -> None:
        self.on_gone = None


def call_on(connection: Connection) -> Call:
    async def send(message: Any) -> None: ...

    scope = {"headers": [], CONNECTION: connection}
    return Call(BY_PATH["/v1/chat/completions"], scope, send, ("id", "up"), 0.0)


async def run(call: Call, in_flight: InFlight, entered: asyncio.Event) -> str:
    try:
        with in_flight.running(call), call:
            entered.set()
            await asyncio.Event().wait()
    except ClientGone:
        return "gone"
    except Refusal as refusal:
        return refusal.outcome.value
    return "done"


async def test_a_client_that_leaves_interrupts_its_request() -> None:
    connection, in_flight, entered = Connection(), InFlight(), asyncio.Event()
    task = asyncio.create_task(run(call_on(connection), in_flight, entered))
    await entered.wait()
    assert (len(in_flight), repr(in_flight)) == (1, "<InFlight 1 requests>")
    connection.on_gone()
    assert await task == "gone"
    assert len(in_flight) == 0
    assert connection.on_gone is None
    assert task.cancelling() == 0


async def test_all_running_requests_can_be_ended_and_waited_for() -> None:
    in_flight = InFlight()
    events = [asyncio.Event() for _ in range(3)]
    tasks = [asyncio.create_task(run(call_on(Connection()), in_flight, e)) for e in events]
    for event in events:
        await event.wait()
    assert in_flight.interrupt_all(Refusal(Outcome.DRAINING, "bye")) == 3
    await in_flight.wait_until_idle()
    assert {await task for task in tasks} == {"gateway_draining"}


async def no_beat(call: Call) -> None:
    raise AssertionError(f"{call!r} asked for no heartbeat")


async def test_a_limit_interrupts_and_the_last_one_counts() -> None:
    call, in_flight, entered = call_on(Connection()), InFlight(), asyncio.Event()
    task = asyncio.create_task(run(call, in_flight, entered))
    await entered.wait()
    call.limit(5.0, lambda late: Refusal(Outcome.INTERNAL, "never"))
    call.limit(10.0, lambda late: Refusal(Outcome.UPSTREAM_TIMEOUT, repr(late)))
    call.interrupt_if_late(9.9)
    assert not task.done()
    watching = asyncio.create_task(in_flight.watch(lambda: 10.0, no_beat))
    assert await task == "backend_timeout"
    watching.cancel()
    await asyncio.wait([watching])


async def test_a_cancellation_from_outside_stays_one() -> None:
    entered = asyncio.Event()
    task = asyncio.create_task(run(call_on(Connection()), InFlight(), entered))
    await entered.wait()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (b"mine-1", "mine-1"),
        (b"", "p-1"),
        (b"with blank", "p-1"),
        (b"\xe4\xb8\xad", "p-1"),
        (b"x" * 201, "p-1"),
        (None, "p-1"),
    ],
)
def test_ids(given: bytes | None, shown: str) -> None:
    ids = RequestIds("p")
    headers = [] if given is None else [(b"x-request-id", given)]
    assert ids.of(headers) == (shown, "p-1")
    assert ids.of(headers)[1] == "p-2"

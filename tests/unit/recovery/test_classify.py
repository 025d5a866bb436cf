"""What the wire showed, as failures: one row for each thing that can go wrong."""

import json

import pytest

from gateway.errors import (
    BackendLost,
    ConnectFailed,
    ConnectionLost,
    LimitReached,
    Phase,
    PoolExhausted,
    ResponseCut,
    ResponseMalformed,
    UpstreamFault,
)
from gateway.recovery.classify import Failure, Kind, kind_of_error, of_error_answer, of_fault

LENGTH = "maximum context length"
TOO_LONG = Kind.CONTEXT_TOO_LONG
NO_FAULT = (
    Kind.CLIENT_ERROR,
    Kind.CONTEXT_TOO_LONG,
    Kind.RATE_LIMITED,
    Kind.UNAVAILABLE,
    Kind.NAME_DRIFT,
    Kind.POOL_EXHAUSTED,
    Kind.JUDGED_DOWN,
    Kind.MISMATCH,
)


@pytest.mark.parametrize(
    ("fault", "kind", "may_have_run"),
    [
        (ConnectFailed("x"), Kind.UNREACHABLE, False),
        (PoolExhausted("x"), Kind.POOL_EXHAUSTED, False),
        (
            ConnectionLost("x", phase=Phase.SEND, may_have_run=False, stale=True),
            Kind.LOST_BEFORE_HEAD,
            False,
        ),
        (
            ConnectionLost("x", phase=Phase.FIRST_BYTE, may_have_run=True, stale=False),
            Kind.LOST_BEFORE_HEAD,
            True,
        ),
        (
            LimitReached("x", phase=Phase.CONNECT, limit_s=5, may_have_run=False),
            Kind.UNREACHABLE,
            False,
        ),
        (
            LimitReached("x", phase=Phase.FIRST_BYTE, limit_s=5, may_have_run=True),
            Kind.LIMIT,
            True,
        ),
        (LimitReached("x", phase=Phase.TOTAL, limit_s=5, may_have_run=True), Kind.LIMIT, True),
        (
            LimitReached("x", phase=Phase.BETWEEN, limit_s=5, may_have_run=True),
            Kind.LIMIT,
            True,
        ),
        (BackendLost("x", phase=Phase.FIRST_BYTE, may_have_run=True), Kind.JUDGED_DOWN, True),
        (BackendLost("x", phase=Phase.SEND, may_have_run=False), Kind.JUDGED_DOWN, False),
        (ResponseCut("x"), Kind.CUT, True),
        (ResponseMalformed("x"), Kind.MALFORMED, True),
    ],
)
def test_faults(fault: UpstreamFault, kind: Kind, may_have_run: bool) -> None:
    failure = of_fault(fault)
    assert (failure.kind, failure.may_have_run) == (kind, may_have_run)
    assert failure.message == "x"


NOT_THERE = "The model `m` does not exist. Valid aliases: other."


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (404, {"error": {"message": NOT_THERE, "type": "NotFoundError"}}, Kind.NAME_DRIFT),
        (404, {"object": "error", "message": NOT_THERE, "code": 404}, Kind.NAME_DRIFT),
        (404, {"error": {"message": "The model `z` does not exist."}}, Kind.CLIENT_ERROR),
        (404, {"error": {"message": "Response with id 'r' not found."}}, Kind.CLIENT_ERROR),
        (404, {"detail": "Not Found"}, Kind.CLIENT_ERROR),
        (400, {"error": {"message": NOT_THERE}}, Kind.CLIENT_ERROR),
        (400, {"error": {"message": "too long"}}, Kind.CLIENT_ERROR),
        (401, {"error": "Unauthorized"}, Kind.KEY_REFUSED),
        (403, {"error": {"message": "no", "type": "Forbidden"}}, Kind.KEY_REFUSED),
        (403, {"error": {"message": "no", "type": "PermissionDeniedError"}}, Kind.CLIENT_ERROR),
        (422, {"detail": [{"loc": []}]}, Kind.CLIENT_ERROR),
        (400, {"error": {"message": f"This model's {LENGTH} is 4096 tokens."}}, TOO_LONG),
        (
            400,
            {"error": {"message": "max_tokens=9 cannot be greater than max_model_len=4"}},
            TOO_LONG,
        ),
        (429, {}, Kind.RATE_LIMITED),
        (500, {"error": {"message": "EngineCore"}}, Kind.SERVER_ERROR),
        (500, {"error": {"message": "EngineCore encountered an issue."}}, Kind.ENGINE_DEAD),
        (500, {"error": {"message": "vllm EngineDeadError"}}, Kind.ENGINE_DEAD),
        (502, {}, Kind.SERVER_ERROR),
        (503, {}, Kind.UNAVAILABLE),
    ],
)
def test_error_answers(status: int, body: object, kind: Kind) -> None:
    failure = of_error_answer(status, json.dumps(body).encode(), None, "m")
    assert (failure.kind, failure.status) == (kind, status)
    assert failure.message


@pytest.mark.parametrize(
    ("status", "may_have_run"),
    [
        (400, False),
        (401, False),
        (404, False),
        (429, False),
        (500, True),
        (502, True),
        (503, False),
    ],
)
def test_which_answers_may_have_cost_work(status: int, may_have_run: bool) -> None:
    assert of_error_answer(status, b"{}", None, "m").may_have_run == may_have_run


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (None, "boom", Kind.ENGINE_ERROR),
        (None, "EngineCore encountered an issue", Kind.ENGINE_DEAD),
        (None, "the engine core is dead", Kind.ENGINE_DEAD),
        (None, "Engine process is dead", Kind.ENGINE_DEAD),
        (None, "a worker died unexpectedly", Kind.ENGINE_DEAD),
        (None, "cannot schedule new futures after shutdown", Kind.ENGINE_DEAD),
        (500, "Engine loop is not running", Kind.ENGINE_DEAD),
        (500, "boom", Kind.SERVER_ERROR),
        (503, "EngineDeadError", Kind.UNAVAILABLE),
        (429, "EngineDeadError", Kind.RATE_LIMITED),
        (400, "EngineDeadError", Kind.CLIENT_ERROR),
        (400, f"the prompt exceeds model's {LENGTH}", TOO_LONG),
        (413, f"This model's {LENGTH.upper()} is 4096", TOO_LONG),
        (422, LENGTH, Kind.CLIENT_ERROR),
        (500, LENGTH, Kind.SERVER_ERROR),
    ],
)
def test_errors_that_an_engine_tells_of(status: int | None, message: str, kind: Kind) -> None:
    assert kind_of_error(status, message) is kind


@pytest.mark.parametrize(
    ("served_name", "is_drift"),
    [("m", True), ("other", True), ("oth", False), ("x", False), ("M", False)],
)
def test_drift_is_about_the_very_name_that_was_asked_for(served_name: str, is_drift: bool) -> None:
    body = json.dumps({"error": {"message": NOT_THERE}}).encode()
    kind = of_error_answer(404, body, None, served_name).kind
    assert kind is (Kind.NAME_DRIFT if is_drift else Kind.CLIENT_ERROR)


@pytest.mark.parametrize(
    ("header", "seconds"), [(b"7", 7.0), (None, None), (b"soon", None), (b"-1", None)]
)
def test_retry_after(header: bytes | None, seconds: float | None) -> None:
    assert of_error_answer(503, b"{}", header, "m").retry_after_s == seconds


@pytest.mark.parametrize("body", [b"", b"<html>", b"[" * 100_000, b"\xff", b"null", b'"x"'])
def test_bodies_that_say_nothing(body: bytes) -> None:
    assert of_error_answer(500, body, None, "m").message == "the backend answered 500"


@pytest.mark.parametrize(
    ("kind", "is_theirs"),
    [(k, k not in NO_FAULT) for k in Kind],
)
def test_whose_fault(kind: Kind, is_theirs: bool) -> None:
    assert Failure(kind, "", may_have_run=False).is_backends_fault == is_theirs


@pytest.mark.parametrize(
    ("kind", "is_theirs"), [(k, k in (Kind.CLIENT_ERROR, TOO_LONG)) for k in Kind]
)
def test_what_any_backend_would_refuse(kind: Kind, is_theirs: bool) -> None:
    assert Failure(kind, "", may_have_run=False).is_clients_fault == is_theirs


def test_addresses_become_names() -> None:
    failure = Failure(Kind.CUT, "10.0.0.5:12322 broke the connection", may_have_run=True)
    told = failure.about("9b", "10.0.0.5:12322")
    assert told.message == "backend '9b' broke the connection"
    other = Failure(Kind.CUT, "it ended", may_have_run=True).about("9b", "10.0.0.5:12322")
    assert other.message == "backend '9b': it ended"


def test_the_time_of_a_whole_request_is_no_backends_fault() -> None:
    faults = {p: Failure(Kind.LIMIT, "late", True, phase=p).is_backends_fault for p in Phase}
    assert [p for p, is_fault in faults.items() if not is_fault] == [Phase.TOTAL]

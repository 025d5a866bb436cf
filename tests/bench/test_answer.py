"""Reading a streamed answer: times of tokens, and what makes an answer not whole."""

import pytest

from tests.bench.answer import Answer

ROLE = b'data: {"choices":[{"delta":{"role":"assistant"},"finish_reason":null}]}\n\n'
TOKEN = b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":null}]}\n\n'
LAST = b'data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}\n\n'
USAGE = b'data: {"choices":[],"usage":{"completion_tokens":2}}\n\n'
DONE = b"data: [DONE]\n\n"
ERROR = b'data: {"error": {"message": "gone"}}\n\n'


def read(*pieces: bytes) -> Answer:
    """An answer whose pieces came at 1, 2, 3 ..."""
    answer = Answer()
    for at, piece in enumerate(pieces, start=1):
        answer.feed(piece, float(at))
    return answer


def test_tokens_have_the_times_of_their_events() -> None:
    answer = read(b": a comment\n\n", ROLE + TOKEN, LAST, USAGE, DONE)
    assert (answer.first_at, answer.last_at) == (2.0, 3.0)
    assert answer.problem(2) is None


def test_events_may_be_cut_anywhere() -> None:
    whole = ROLE + TOKEN + LAST + USAGE + DONE
    assert read(*(bytes([byte]) for byte in whole)).problem(2) is None


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        ((), "without a finish reason"),
        ((ROLE, TOKEN, DONE), "without a finish reason"),
        ((ROLE, LAST, USAGE), "without [DONE]"),
        ((ROLE, LAST.replace(b"stop", b"length"), USAGE, DONE), "finish reason length"),
        ((ROLE, LAST, DONE), "None tokens instead of 2"),
        ((ROLE, ERROR, DONE), "gone"),
        ((ROLE, b"data: {\n\n", LAST, USAGE, DONE), "no JSON"),
    ],
)
def test_what_is_not_whole_is_told(pieces: tuple[bytes, ...], told: str) -> None:
    problem = read(*pieces).problem(2)
    assert problem is not None
    assert told in problem

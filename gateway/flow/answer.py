"""What an attempt at a backend brings: a whole answer, a stream that has begun, or a failure."""

from dataclasses import dataclass
from typing import NamedTuple

from gateway.flow.call import Counted
from gateway.flow.stream import OpenStream
from gateway.protocol.answer import AnswerReading
from gateway.protocol.headers import Headers
from gateway.recovery.classify import Failure


class WholeAnswer(NamedTuple):
    """An answer that is complete in memory; `headers` are already fit for the client."""

    status: int
    headers: Headers
    body: bytes
    reading: AnswerReading | None = None


class StreamAnswer(NamedTuple):
    """A stream whose first real event is there; `headers` are already fit for the client.

    `opening` is what the client gets first, `counted` tells the tokens of the whole answer.
    """

    status: int
    headers: Headers
    stream: OpenStream
    opening: bytes
    counted: Counted


@dataclass(frozen=True, slots=True)
class Failed:
    """An attempt that failed before the client saw anything.

    `answer` is what the backend said, where it said something that may be handed on.
    """

    failure: Failure
    answer: WholeAnswer | None = None


Attempted = WholeAnswer | StreamAnswer | Failed

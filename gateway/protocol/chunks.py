"""What a stream has said so far, whether it has ended, and whether it has failed."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from gateway.protocol.chunk_shapes import (
    Choice,
    chunk_has_content,
    is_set,
    read_chunk,
    read_messages_event,
    read_object,
    read_responses_event,
    read_talk,
)
from gateway.protocol.engine_error import ErrorInfo, error_from_object
from gateway.protocol.sse import event_data
from gateway.protocol.transcript import Transcript
from gateway.protocol.usage import Usage, read_usage

if TYPE_CHECKING:
    import msgspec


class Protocol(StrEnum):
    """The public protocol of an endpoint: how its answers and events are shaped."""

    OPENAI_CHAT = "openai_chat"
    OPENAI_COMPLETIONS = "openai_completions"
    RESPONSES = "responses"
    MESSAGES = "messages"
    TRANSCRIPTION = "transcription"
    GENERIC = "generic"


class Verdict(StrEnum):
    """What one event, or one whole answer, says about the request."""

    COMMENT = "comment"
    """Nothing that a reader gets: it is passed on and is no progress."""
    ORDINARY = "ordinary"
    FINISH = "finish"
    """A choice ended well."""
    DONE = "done"
    """The end of the stream; only `is_complete` tells if the answer is whole."""
    ERROR = "error"
    """The engine reports an error; `error` has it."""
    ABORT = "abort"
    """The engine gave up on the request although it looks like an end: a failure."""
    MALFORMED = "malformed"
    """The data is neither a JSON object nor the end marker."""


# "abort" is seen when vLLM 0.32 gets SIGTERM; "error" is its reason for failed generations
# (vllm/v1/engine/__init__.py, FinishReason).
FAILED_REASONS: Final = frozenset({"abort", "error"})
# Statuses of a response that has ended without being an answer (OpenAI API reference, Responses).
FAILED_STATUSES: Final = frozenset({"cancelled", "failed"})

DONE_DATA: Final = b"[DONE]"
_OPENAI_END: Final = b"data: [DONE]\n\n"
_END_MARKERS: Final[Mapping[Protocol, bytes]] = MappingProxyType(
    {
        Protocol.RESPONSES: b"",
        Protocol.MESSAGES: b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    }
)
_RESPONSES_END: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
)


def end_marker(protocol: Protocol) -> bytes:
    """The event that ends a stream; empty for responses, whose last event holds the answer."""
    return _END_MARKERS.get(protocol, _OPENAI_END)


class StreamWatch:
    """Follows one stream, event by event.

    `choices` is how many choices a complete answer has. `error` is the last error reported,
    `sequence_number` the last one seen (Responses API, -1 before), `finish_reasons` the ends seen
    by choice. `transcript`, if there is one, is told all that a chat or completions stream says.
    """

    __slots__ = (
        "_choices",
        "_read",
        "_seen",
        "_usage",
        "_usage_at_start",
        "error",
        "events_total",
        "finish_reasons",
        "has_content",
        "has_failed",
        "is_done",
        "protocol",
        "sequence_number",
        "transcript",
    )

    def __init__(
        self, protocol: Protocol, choices: int = 1, transcript: Transcript | None = None
    ) -> None:
        self.protocol = protocol
        self.error: ErrorInfo | None = None
        self.events_total = 0
        self.finish_reasons: dict[int, str] = {}
        self.has_content = False
        self.has_failed = False
        self.is_done = False
        self.sequence_number = -1
        self.transcript = transcript
        self._choices = choices
        self._seen: set[int] = set()
        self._usage: msgspec.Raw | None = None
        self._usage_at_start: msgspec.Raw | None = None
        self._read: Callable[[bytes], Verdict] = self._read_openai
        if protocol is Protocol.RESPONSES:
            self._read = self._read_responses
        elif protocol is Protocol.MESSAGES:
            self._read = self._read_messages

    def __repr__(self) -> str:
        state = "failed" if self.has_failed else "complete" if self.is_complete else "open"
        return (
            f"StreamWatch({self.protocol}, {state}, events={self.events_total}, "
            f"finished={len(self.finish_reasons)} of {max(self._choices, len(self._seen))})"
        )

    @property
    def is_finished(self) -> bool:
        """If every choice that was asked for or seen has ended well, and nothing failed.

        Audio and unknown streams have no finish to rely on: there the end marker decides.
        """
        if self.has_failed:
            return False
        if self.protocol is Protocol.TRANSCRIPTION or self.protocol is Protocol.GENERIC:
            return self.is_done
        ended = len(self.finish_reasons)
        return ended >= self._choices and ended >= len(self._seen)

    @property
    def is_complete(self) -> bool:
        """If the stream is whole: finished, and closed by its end marker."""
        return self.is_done and self.is_finished

    @property
    def usage(self) -> Usage | None:
        """The last token counts that the stream gave; None if it gave none."""
        last = None if self._usage is None else read_usage(self._usage)
        first = None if self._usage_at_start is None else read_usage(self._usage_at_start)
        if first is None or last is None:
            return last or first
        return first.merged_with(last)

    def observe(self, event: bytes) -> Verdict:
        """Takes in the next event, and says what it means."""
        data = event_data(event)
        if not data or data.isspace():
            return Verdict.COMMENT
        self.events_total += 1
        if data.strip() == DONE_DATA:
            self.is_done = True
            return Verdict.DONE
        verdict = self._read(data)
        if verdict is Verdict.ORDINARY or verdict is Verdict.FINISH:
            return verdict
        if verdict is not Verdict.DONE:
            self.has_failed = True
        return verdict

    def _read_openai(self, data: bytes) -> Verdict:
        transcript = self.transcript
        talk = None if transcript is None else read_talk(data)
        chunk = talk or read_chunk(data)
        if chunk is None:
            return Verdict.MALFORMED
        if is_set(chunk.error) or chunk.object == "error" or chunk.type == "error":
            return self._failed_with(data)
        if is_set(chunk.usage):
            self._usage = chunk.usage
        if chunk.choices:
            if not self.has_content:
                self.has_content = chunk_has_content(data)
            verdict = self._take_choices(chunk.choices)
            if transcript is not None and verdict is not Verdict.ABORT:
                transcript.take(talk, data)
            return verdict
        if chunk.type == "transcript.text.delta":
            self.has_content = True
        elif chunk.type == "transcript.text.done":
            self.finish_reasons[0] = "stop"
            self.is_done = True
            return Verdict.DONE
        return Verdict.ORDINARY

    def _take_choices(self, choices: Sequence[Choice]) -> Verdict:
        verdict = Verdict.ORDINARY
        for choice in choices:
            self._seen.add(choice.index)
            reason = choice.finish_reason
            if reason is None:
                continue
            self.finish_reasons[choice.index] = reason
            if reason in FAILED_REASONS:
                verdict = Verdict.ABORT
            elif verdict is Verdict.ORDINARY:
                verdict = Verdict.FINISH
        return verdict

    def _read_responses(self, data: bytes) -> Verdict:
        event = read_responses_event(data)
        if event is None:
            return Verdict.MALFORMED
        kind = event.type or ""
        if event.sequence_number is not None:
            self.sequence_number = event.sequence_number
        response = event.response
        if response is not None and is_set(response.usage):
            self._usage = response.usage
        if kind in _RESPONSES_END:
            self.is_done = True
        if kind == "error" or kind == "response.failed" or is_set(event.error):
            return self._failed_with(data)
        if kind.endswith(".delta"):
            self.has_content = True
        if kind not in _RESPONSES_END:
            return Verdict.ORDINARY
        status = "" if response is None else response.status or ""
        self.finish_reasons[0] = status or kind.removeprefix("response.")
        if status in FAILED_STATUSES or kind == "response.cancelled":
            return Verdict.ABORT
        return Verdict.DONE

    def _read_messages(self, data: bytes) -> Verdict:
        event = read_messages_event(data)
        if event is None:
            return Verdict.MALFORMED
        kind = event.type
        if kind == "error" or is_set(event.error):
            return self._failed_with(data)
        if event.message is not None and is_set(event.message.usage):
            self._usage_at_start = event.message.usage
        if is_set(event.usage):
            self._usage = event.usage
        if kind == "content_block_delta":
            self.has_content = True
        elif kind == "message_stop":
            self.is_done = True
            return Verdict.DONE
        reason = None if event.delta is None else event.delta.stop_reason
        if reason is None:
            return Verdict.ORDINARY
        self.finish_reasons[0] = reason
        return Verdict.ABORT if reason in FAILED_REASONS else Verdict.FINISH

    def _failed_with(self, data: bytes) -> Verdict:
        fields = read_object(data)
        found = None if fields is None else error_from_object(fields)
        self.error = found or ErrorInfo("the engine gave no message")
        return Verdict.ERROR

"""What a whole answer with status 200 says: an answer, an abort, or an error after all."""

from typing import NamedTuple

import msgspec

from gateway.protocol.chunk_shapes import (
    is_set,
    read_chunk,
    read_messages_event,
    read_object,
    read_responses_event,
)
from gateway.protocol.chunks import FAILED_REASONS, FAILED_STATUSES, Protocol, Verdict
from gateway.protocol.engine_error import ErrorInfo, error_from_object
from gateway.protocol.usage import Usage, read_usage


class AnswerReading(NamedTuple):
    """`verdict` is FINISH for a whole answer, ABORT, ERROR (then `error` is set), MALFORMED, or
    ORDINARY where answers have no end to look for (embeddings, token counts, text of audio)."""

    verdict: Verdict
    error: ErrorInfo | None = None
    raw_usage: msgspec.Raw | None = None

    @property
    def usage(self) -> Usage | None:
        """The token counts, decoded when they are asked for."""
        return None if self.raw_usage is None else read_usage(self.raw_usage)


def answer_verdict(body: bytes, protocol: Protocol) -> AnswerReading:
    """Judges the body of a non-stream answer with status 200."""
    if protocol is Protocol.RESPONSES:
        return _responses(body)
    if protocol is Protocol.MESSAGES:
        return _messages(body)
    if protocol is Protocol.TRANSCRIPTION or protocol is Protocol.GENERIC:
        return _generic(body, protocol)
    return _openai(body)


def _openai(body: bytes) -> AnswerReading:
    chunk = read_chunk(body)
    if chunk is None:
        return AnswerReading(Verdict.MALFORMED)
    if is_set(chunk.error) or chunk.object == "error":
        return _failed(body)
    reasons = [choice.finish_reason for choice in chunk.choices or ()]
    verdict = Verdict.ORDINARY
    if FAILED_REASONS.intersection(reasons):
        verdict = Verdict.ABORT
    elif reasons and all(reasons):
        verdict = Verdict.FINISH
    return AnswerReading(verdict, raw_usage=_usage(chunk.usage))


def _responses(body: bytes) -> AnswerReading:
    answer = read_responses_event(body)
    if answer is None:
        return AnswerReading(Verdict.MALFORMED)
    if is_set(answer.error):
        return _failed(body)
    verdict = Verdict.ORDINARY
    if answer.status in FAILED_STATUSES:
        verdict = Verdict.ABORT
    elif answer.status in ("completed", "incomplete"):
        verdict = Verdict.FINISH
    return AnswerReading(verdict, raw_usage=_usage(answer.usage))


def _messages(body: bytes) -> AnswerReading:
    answer = read_messages_event(body)
    if answer is None:
        return AnswerReading(Verdict.MALFORMED)
    if is_set(answer.error) or answer.type == "error":
        return _failed(body)
    verdict = Verdict.ORDINARY
    if answer.stop_reason in FAILED_REASONS:
        verdict = Verdict.ABORT
    elif answer.stop_reason is not None:
        verdict = Verdict.FINISH
    return AnswerReading(verdict, raw_usage=_usage(answer.usage))


def _generic(body: bytes, protocol: Protocol) -> AnswerReading:
    if not body.lstrip().startswith(b"{"):
        # Text, subtitles or raw vectors.
        return AnswerReading(Verdict.ORDINARY)
    chunk = read_chunk(body)
    if chunk is None:
        # A transcript may begin with a brace and still be plain text.
        is_text = protocol is Protocol.TRANSCRIPTION
        return AnswerReading(Verdict.ORDINARY if is_text else Verdict.MALFORMED)
    if is_set(chunk.error) or chunk.object == "error":
        return _failed(body)
    return AnswerReading(Verdict.ORDINARY, raw_usage=_usage(chunk.usage))


def _failed(body: bytes) -> AnswerReading:
    fields = read_object(body)
    found = None if fields is None else error_from_object(fields)
    return AnswerReading(Verdict.ERROR, found or ErrorInfo("the engine gave no message"))


def _usage(raw: msgspec.Raw) -> msgspec.Raw | None:
    return raw if is_set(raw) else None

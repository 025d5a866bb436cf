"""One question through the official client, and everything that came of it."""

from dataclasses import dataclass
from typing import Any

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.completion import Completion

from tests.chaos.cases import Case
from tests.chaos.judge import Observed


@dataclass(frozen=True, slots=True)
class Question:
    """A case as it is asked: of which model, streamed or not, with token counts or not."""

    case: Case
    model: str
    is_stream: bool
    wants_usage: bool = False

    @property
    def is_usage_asked_for(self) -> bool:
        """Plain answers always have it."""
        return self.wants_usage or not self.is_stream

    def body(self) -> dict[str, Any]:
        body = {"model": self.model, "stream": self.is_stream, **self.case.fields()}
        if self.is_stream and self.wants_usage:
            body["stream_options"] = {"include_usage": True}
        return body


async def ask(
    client: openai.AsyncOpenAI, question: Question, seen: Observed | None = None
) -> Observed:
    """Ask, and note every event in `seen`; an exception of the client is the answer's error."""
    if seen is None:
        seen = Observed(question.case.is_chat, question.is_stream)
    create: Any = client.chat.completions if question.case.is_chat else client.completions
    try:
        answer = await create.create(**question.body())
        if question.is_stream:
            await _read_stream(answer, seen)
        else:
            _read_plain(answer, seen)
    except Exception as error:
        seen.error = _told(error)
        seen.request_id = seen.request_id or getattr(error, "request_id", None)
    return seen


async def _read_stream(stream: Any, seen: Observed) -> None:
    seen.request_id = stream.response.headers.get("x-request-id")
    async with stream:
        async for chunk in stream:
            _read_chunk(chunk, seen)


def _read_chunk(chunk: ChatCompletionChunk | Completion, seen: Observed) -> None:
    if chunk.usage is not None:
        seen.completion_tokens.append(chunk.usage.completion_tokens)
    if not chunk.choices:
        seen.note_head(chunk.id, chunk.model)
        return
    if isinstance(chunk, ChatCompletionChunk):
        choice = chunk.choices[0]
        delta = choice.delta
        seen.note(chunk.id, chunk.model, delta.role, delta.content, choice.finish_reason)
    else:
        plain = chunk.choices[0]
        seen.note(chunk.id, chunk.model, None, plain.text, plain.finish_reason)


def _read_plain(answer: ChatCompletion | Completion, seen: Observed) -> None:
    seen.request_id = answer._request_id
    if answer.usage is not None:
        seen.completion_tokens.append(answer.usage.completion_tokens)
    if isinstance(answer, ChatCompletion):
        choice = answer.choices[0]
        message = choice.message
        seen.note(answer.id, answer.model, message.role, message.content, choice.finish_reason)
    else:
        text = answer.choices[0]
        seen.note(answer.id, answer.model, None, text.text, text.finish_reason)


def _told(error: Exception) -> str:
    """The error with its status and what lies beneath, on one line."""
    status = getattr(error, "status_code", None)
    cause = f" (from {error.__cause__!r})" if error.__cause__ is not None else ""
    shown = f"{type(error).__name__}{'' if status is None else f' {status}'}: {error}{cause}"
    return " ".join(shown.split())

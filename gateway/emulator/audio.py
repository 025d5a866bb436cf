"""POST /v1/audio/transcriptions and /translations: text made from a hash of the file.

Ids, objects and keys are those of vLLM 0.32.0, entrypoints/speech_to_text.
"""

import time
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP
from hashlib import blake2b
from typing import Any

from gateway.emulator import tokens
from gateway.emulator.call import Call
from gateway.emulator.refusals import Refused, bad_request, missing
from gateway.emulator.vocabulary import ENGLISH

_WORDS_SAID = 12


@dataclass(frozen=True, slots=True)
class _Kind:
    salt: str
    id_prefix: str
    chunk: str
    has_usage: bool


_TRANSCRIBED = _Kind("transcribed", "transcribe", "transcription.chunk", has_usage=True)
_TRANSLATED = _Kind("translated", "translate", "translation.chunk", has_usage=False)


async def transcriptions(call: Call) -> None:
    """What was said, in its own language."""
    await _answer(call, _TRANSCRIBED)


async def translations(call: Call) -> None:
    """What was said, in English."""
    await _answer(call, _TRANSLATED)


def said_in(file: bytes, kind: str) -> str:
    """The words that a file is taken to hold."""
    raw = blake2b(file + kind.encode()).digest()
    return " ".join(ENGLISH[byte % len(ENGLISH)] for byte in raw[:_WORDS_SAID])


async def _answer(call: Call, kind: _Kind) -> None:
    form = _form(call)
    model = form.get("model", b"").decode("utf-8", "replace")
    call.record.model = model
    served = call.model({"model": model})
    if "file" not in form:
        raise missing("body.file", form)
    text = said_in(form["file"], kind.salt)
    if form.get("stream") == b"true":
        _stream(call, kind, served, text)
    elif form.get("response_format") == b"text":
        call.send(200, text.encode(), ["content-type: text/plain; charset=utf-8"])
    else:
        answer: dict[str, Any] = {"text": text}
        if kind.has_usage:
            seconds = max(1, len(form["file"]) // 32_000)
            answer["usage"] = {"type": "duration", "seconds": seconds}
        call.send_json(200, answer)


def _stream(call: Call, kind: _Kind, model: str, text: str) -> None:
    ids = tokens.encode(text)
    head = {
        "id": call.answer_id(kind.id_prefix, {}),
        "object": kind.chunk,
        "created": int(time.time()),
        "model": model,
    }
    with call.open_stream() as stream:
        for index, token in enumerate(ids):
            choice: dict[str, Any] = {"delta": {"content": tokens.decode([token])}}
            if index == len(ids) - 1:
                choice |= {"finish_reason": "stop", "stop_reason": None}
            stream.data({**head, "choices": [choice]})
        stream.done()


def _form(call: Call) -> dict[str, bytes]:
    """The fields of a multipart form; the last of equal names counts."""
    content_type = call.request.headers.get("content-type", "")
    if not content_type.startswith("multipart/form-data"):
        raise bad_request("The request must be a multipart form.")
    head = f"content-type: {content_type}\r\n\r\n".encode("latin-1")
    message = BytesParser(policy=HTTP).parsebytes(head + call.request.body)
    if not message.is_multipart():
        raise Refused(400, {"detail": "There was an error parsing the body"})
    found: dict[str, bytes] = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        payload = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(payload, bytes):
            found[name] = payload
    return found

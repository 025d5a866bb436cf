"""POST /v1/audio/transcriptions and /translations: text made from a hash of the file."""

import time
from email.parser import BytesParser
from email.policy import HTTP
from hashlib import blake2b

from gateway.emulator import tokens
from gateway.emulator.call import Call
from gateway.emulator.refusals import Refused, bad_request, missing
from gateway.emulator.vocabulary import ENGLISH

_WORDS_SAID = 12


async def transcriptions(call: Call) -> None:
    """What was said, in its own language."""
    await _answer(call, "transcribed")


async def translations(call: Call) -> None:
    """What was said, in English."""
    await _answer(call, "translated")


def said_in(file: bytes, kind: str) -> str:
    """The words that a file is taken to hold."""
    raw = blake2b(file + kind.encode()).digest()
    return " ".join(ENGLISH[byte % len(ENGLISH)] for byte in raw[:_WORDS_SAID])


async def _answer(call: Call, kind: str) -> None:
    form = _form(call)
    model = form.get("model", b"").decode("utf-8", "replace")
    call.record.model = model
    served = call.model({"model": model})
    if "file" not in form:
        raise missing("body.file", form)
    text = said_in(form["file"], kind)
    if form.get("stream") == b"true":
        _stream(call, served, text)
    elif form.get("response_format") == b"text":
        call.send(200, text.encode(), ["content-type: text/plain; charset=utf-8"])
    else:
        seconds = max(1, len(form["file"]) // 32_000)
        call.send_json(200, {"text": text, "usage": {"type": "duration", "seconds": seconds}})


def _stream(call: Call, model: str, text: str) -> None:
    ids = tokens.encode(text)
    head = {
        "id": call.answer_id("trsc", {}),
        "object": "transcription.chunk",
        "created": int(time.time()),
        "model": model,
    }
    with call.open_stream() as stream:
        for index, token in enumerate(ids):
            is_last = index == len(ids) - 1
            delta = {"content": tokens.decode([token])}
            finish = "stop" if is_last else None
            choice = {"delta": delta, "finish_reason": finish, "stop_reason": None}
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

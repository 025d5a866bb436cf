"""The captures of a real vLLM: what was asked, and the raw bytes that came back."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from tests.support import wire
from tests.support.wire import ChunkedBody

FOLDER = Path(__file__).parents[1] / "golden" / "captures"
SERVED = "qwen3.5-9b"

_REQUEST_MARK = b">>> request\n"
_RESPONSE_MARK = b"\n\n<<< response\n"
_END_MARK = b"\n\n--- closed by server"


_LONG_CHAT = {
    "model": SERVED,
    "messages": [{"role": "user", "content": "hello " * 5000}],
    "max_tokens": 8,
    "temperature": 0,
}
_LONG_PROMPT = {"model": SERVED, "prompt": [10] * 5000, "max_tokens": 4, "temperature": 0}
# The files of these hold only the start of their requests.
_LONG_BODIES = {
    "08_err_prompt_too_long_chat": json.dumps(_LONG_CHAT).encode(),
    "08_err_prompt_too_long_stream": json.dumps({**_LONG_CHAT, "stream": True}).encode(),
    "08_err_prompt_too_long_comp": json.dumps(_LONG_PROMPT).encode(),
}


@dataclass(frozen=True, slots=True)
class Capture:
    """One captured exchange; `response` is raw, interim heads and chunk framing included."""

    name: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    response: bytes

    @property
    def status(self) -> int:
        return int(self._final()[0].split(" ")[1])

    @property
    def content_type(self) -> str | None:
        found = [value for name, value in self._final()[1] if name.lower() == "content-type"]
        return found[0] if found else None

    @property
    def answer(self) -> bytes:
        """The decoded body of the response."""
        _, headers, raw = self._final()
        if ("transfer-encoding", "chunked") in headers:
            decoder = ChunkedBody()
            body = decoder.feed(raw)
            assert decoder.is_complete
            return body
        return raw

    def _final(self) -> tuple[str, list[tuple[str, str]], bytes]:
        raw = self.response
        while True:
            head, _, raw = raw.partition(b"\r\n\r\n")
            first, headers = wire.parse_head(head)
            if not first.split(" ")[1].startswith("1"):
                return first, headers, raw


def load(name: str) -> Capture:
    """One capture of 01 to 13 by its file name without .txt."""
    text = (FOLDER / f"{name}.txt").read_bytes()
    assert text.startswith(_REQUEST_MARK), name
    request, _, rest = text.removeprefix(_REQUEST_MARK).partition(_RESPONSE_MARK)
    response, _, end = rest.rpartition(_END_MARK)
    assert end == b"\n" or not end, name
    head, _, body = request.partition(b"\r\n\r\n")
    if body.endswith(b" bytes in all)"):
        body = _LONG_BODIES[name]
    first, headers = wire.parse_head(head)
    method, target, _ = first.split(" ")
    return Capture(name, method, target, tuple(headers), body, response)


def names(*prefixes: str) -> list[str]:
    """The captures whose names start with one of the prefixes, in order."""
    found = sorted(path.stem for path in FOLDER.glob("*.txt"))
    return [name for name in found if name.startswith(prefixes)]


def tail_after_signal(name: str) -> bytes:
    """What came last in a capture of 20 to 22, from its first whole chunk on."""
    text = (FOLDER / f"{name}.txt").read_bytes().removesuffix(b"\n")
    rest = text.split(b"\n\n", 1)[1]
    if rest.startswith(b"HTTP/1.1"):
        return rest
    cut = re.match(rb"\.\.\.\(\d+ bytes\)\.\.\.\n", rest)
    assert cut is not None, name
    rest = rest[cut.end() :]
    first_chunk = re.search(rb"\r\n(?=[0-9a-f]+\r\n(?:data|event): )", rest)
    return rest[first_chunk.end() :] if first_chunk else rest

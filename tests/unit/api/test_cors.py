"""Cross-origin rules: preflights before keys, and every answer marked."""

from typing import Any

import pytest

from gateway.api.cors import Cors

PREFLIGHT = [
    (b"origin", b"https://chat.example"),
    (b"access-control-request-method", b"POST"),
    (b"access-control-request-headers", b"authorization,x-stainless-os"),
]


def scope(method: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {"method": method, "headers": headers}


class Sent(list[Any]):
    async def __call__(self, message: Any) -> None:
        self.append(message)

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self[0]["headers"])


@pytest.mark.parametrize(
    ("origins", "allowed"),
    [
        (["*"], b"*"),
        (["https://chat.example"], b"https://chat.example"),
        (["https://chat.example/"], b"https://chat.example"),
        (["https://other.example"], None),
    ],
)
async def test_preflights(origins: list[str], allowed: bytes | None) -> None:
    cors, sent = Cors(origins), Sent()
    asked = scope("OPTIONS", PREFLIGHT)
    assert cors.is_preflight(asked)
    await cors.answer_preflight(asked, sent)
    assert sent[0]["status"] == 204
    assert sent.headers.get(b"access-control-allow-origin") == allowed
    if allowed:
        assert b"x-stainless-os" in sent.headers[b"access-control-allow-headers"]
        assert b"POST" in sent.headers[b"access-control-allow-methods"]


@pytest.mark.parametrize(
    ("method", "headers"),
    [("POST", PREFLIGHT), ("OPTIONS", PREFLIGHT[:1]), ("OPTIONS", PREFLIGHT[1:])],
)
def test_what_is_no_preflight(method: str, headers: list[tuple[bytes, bytes]]) -> None:
    assert not Cors(["*"]).is_preflight(scope(method, headers))


async def test_answers_are_marked_only_for_allowed_origins() -> None:
    cors = Cors(["https://chat.example"])
    start = {"type": "http.response.start", "status": 401, "headers": [(b"a", b"1")]}
    sent = Sent()
    await cors.wrap(scope("POST", PREFLIGHT[:1]), sent)(start)
    assert sent.headers[b"access-control-allow-origin"] == b"https://chat.example"
    assert sent.headers[b"vary"] == b"Origin"
    assert b"x-request-id" in sent.headers[b"access-control-expose-headers"]
    for headers in ([], [(b"origin", b"https://evil.example")]):
        plain = Sent()
        assert cors.wrap(scope("POST", headers), plain) is plain

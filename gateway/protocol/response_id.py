"""The id of a stored response (Responses API), found without reading the whole answer."""

import re
from typing import Final

# vLLM names them resp_ and a UUID (vllm/entrypoints/openai/responses/protocol.py).
_ID: Final = re.compile(rb'"id"\s*:\s*"(resp_[A-Za-z0-9_-]{1,128})"')
_LOOKED_AT_BYTES: Final = 4096


def response_id_in(begin: bytes) -> str | None:
    """The response's id in the beginning of a whole answer or of a stream; None without one."""
    found = _ID.search(begin, 0, _LOOKED_AT_BYTES)
    return None if found is None else found.group(1).decode("ascii")

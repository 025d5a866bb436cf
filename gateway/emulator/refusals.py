"""Refusals in the words, shapes and statuses of real vLLM."""

from collections.abc import Mapping
from typing import Any


class Refused(Exception):  # noqa: N818 - it is an answer, not a programming error
    """An answer other than the one asked for."""

    def __init__(
        self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(str(body))
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


def envelope(status: int, kind: str, message: str, param: str | None = None) -> dict[str, Any]:
    """vLLM's error object."""
    return {"error": {"message": message, "type": kind, "param": param, "code": status}}


def bad_request(message: str, param: str | None = None, value: Any = None) -> Refused:
    """400 BadRequestError; `param` and `value` are repeated in the text, as vLLM does."""
    if param is not None:
        shown = f", value={value}" if value is not None else ""
        message = f"{message} (parameter={param}{shown})"
    return Refused(400, envelope(400, "BadRequestError", message, param))


def invalid(kind: str, loc: str, msg: str, shown: str, extra: str = "") -> Refused:
    """400 for a body that the schema refuses (vLLM 0.32 answers 400, not 422)."""
    text = (
        f"1 validation error:\n  {{'type': '{kind}', 'loc': '{loc}', 'msg': '{msg}', "
        f"'input': '{shown}'{extra}}}"
    )
    return Refused(400, envelope(400, "Bad Request", text, loc))


def missing(loc: str, body: Any) -> Refused:
    """400 for a required field that is not there."""
    return invalid("missing", loc, "Field required", shown(body))


def shown(value: Any) -> str:
    """How vLLM prints the refused input: containers by size only."""
    if isinstance(value, dict):
        return f"<dict of {len(value)} items>"
    if isinstance(value, list):
        return f"<list of {len(value)} items>"
    return str(value)


def unknown_model(model: str, served: tuple[str, ...]) -> Refused:
    """404 for a name that is not served here. Names are compared as they are, case included."""
    text = f"The model `{model}` does not exist. Valid aliases: {', '.join(served)}."
    return Refused(404, envelope(404, "NotFoundError", text, "model"))


def too_long(limit: int, tokens: int, *, at_least: bool) -> Refused:
    """400 for a prompt beyond the context. Chat prompts are counted up to the limit only."""
    count = f"at least {limit + 1}" if at_least else str(tokens)
    return bad_request(
        f"This model's maximum context length is {limit} tokens. However, your prompt contains "
        f"{count} input tokens, which exceeds this limit even without any output tokens. Please "
        "reduce the length of the input prompt.",
        "input_tokens",
        limit + 1 if at_least else tokens,
    )


def not_found() -> Refused:
    """404 of a route that does not exist."""
    return Refused(404, {"detail": "Not Found"})


def unparsable() -> Refused:
    """400 of a body that cannot even be decoded."""
    return Refused(400, {"detail": "There was an error parsing the body"})


def scale_out_disabled() -> Refused:
    """403 of the scale-out routes without --enable-scale-out."""
    text = (
        "Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable "
        "them."
    )
    return Refused(403, envelope(403, "PermissionDeniedError", text))


def told_to_answer(status: int, retry_after_s: float | None) -> Refused:
    """The answer of a fault that says only a status."""
    kinds = {429: "Too Many Requests", 500: "InternalServerError", 503: "Service Unavailable"}
    headers = {} if retry_after_s is None else {"retry-after": f"{retry_after_s:g}"}
    message = f"The emulated server was told to answer {status}."
    return Refused(status, envelope(status, kinds[status], message), headers)


ENGINE_DEAD = envelope(
    500,
    "InternalServerError",
    "EngineCore encountered an issue. See stack trace (above) for the root cause.",
)
ENGINE_BUSY = envelope(
    503,
    "Service Unavailable",
    "The engine is currently busy and cannot accept new requests. Please try again later or on a "
    "different instance.",
)
SHUTTING_DOWN = envelope(500, "InternalServerError", "cannot schedule new futures after shutdown")

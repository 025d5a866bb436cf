"""Reading request fields the way the engine's models do: lax where it is, strict where it is."""

from collections.abc import Mapping
from typing import Any

from gateway.emulator import jsontext
from gateway.emulator.refusals import Refused, bad_request, invalid, shown, unparsable

Body = dict[str, Any]
_TRUE = frozenset({"true", "1", "yes", "on", "t", "y"})
_FALSE = frozenset({"false", "0", "no", "off", "f", "n"})

_MOST_CHOICES = 16384
"""vLLM's default of VLLM_MAX_N_SEQUENCES."""


def json_body(headers: Mapping[str, str], raw: bytes) -> Body:
    """The body as an object; Refused with the engine's words when it is none."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        text = "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed"
        body = {"error": {"message": text, "type": "Bad Request", "param": None, "code": 400}}
        raise Refused(400, body)
    if not raw:
        raise invalid("missing", "body", "Field required", "None")
    try:
        value = jsontext.loads(raw)
    except UnicodeDecodeError:
        raise unparsable() from None
    except RecursionError:
        raise unparsable() from None
    except ValueError as error:
        at, text = getattr(error, "pos", 0), getattr(error, "msg", str(error))
        extra = f", 'ctx': {{'error': '{text}'}}"
        loc = f"body.{at}"
        raise invalid(
            "json_invalid", loc, "JSON decode error", "<dict of 0 items>", extra
        ) from None
    if not isinstance(value, dict):
        text = "Input should be a valid dictionary or object to extract fields from"
        raise invalid("model_attributes_type", "body", text, shown(value))
    return value


def string(body: Body, name: str) -> str | None:
    """A string field, None when absent or null."""
    value = body.get(name)
    if value is None or isinstance(value, str):
        return value
    raise invalid("string_type", f"body.{name}", "Input should be a valid string", shown(value))


def items(body: Body, name: str) -> list[Any] | None:
    """A list field, None when absent or null."""
    value = body.get(name)
    if value is None or isinstance(value, list):
        return value
    raise invalid("list_type", f"body.{name}", "Input should be a valid list", shown(value))


def number(body: Body, name: str) -> float | None:
    """A number field, text that reads as one included."""
    value = body.get(name)
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise invalid(
            "float_parsing",
            f"body.{name}",
            "Input should be a valid number, unable to parse string as a number",
            shown(value),
        ) from None


def integer(body: Body, name: str) -> int | None:
    """A whole number field, text that reads as one included."""
    value = body.get(name)
    if value is None:
        return None
    try:
        if isinstance(value, float) and not value.is_integer():
            raise ValueError
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise invalid(
            "int_parsing",
            f"body.{name}",
            "Input should be a valid integer, unable to parse string as an integer",
            shown(value),
        ) from None


def flag(body: Body, name: str, default: bool = False) -> bool:
    """A boolean field; like the engine it takes "true", 1 and so on."""
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise invalid(
        "bool_parsing",
        f"body.{name}",
        "Input should be a valid boolean, unable to interpret input",
        shown(value),
    )


def strings(body: Body, name: str) -> tuple[str, ...]:
    """A field that is one string or a list of strings."""
    value = body.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(str(entry) for entry in (items(body, name) or []) if entry)


def check_sampling(body: Body) -> None:
    """Refuse the sampling values that vLLM refuses."""
    temperature = number(body, "temperature")
    if temperature is not None and temperature != temperature:
        raise bad_request("temperature must be a finite number, got nan.", "temperature", "nan")
    if temperature is not None and temperature < 0:
        text = f"temperature must be non-negative, got {temperature}."
        raise bad_request(text, "temperature", temperature)
    top_p = number(body, "top_p")
    if top_p is not None and not 0 < top_p <= 1:
        raise bad_request(f"top_p must be in (0, 1], got {top_p}.", "top_p", top_p)
    n = integer(body, "n")
    if n is not None and n < 1:
        raise bad_request(f"n must be at least 1, got {n}.", "n", n)
    if n is not None and n > _MOST_CHOICES:
        raise bad_request(f"n must be at most {_MOST_CHOICES}, got {n}.", "n", n)
    if body.get("stream_options") is not None and not flag(body, "stream"):
        text = "Stream options can only be defined when `stream=True`."
        raise bad_request(text, "stream_options")


def check_max_tokens(value: int | None, max_model_len: int, name: str = "max_tokens") -> None:
    """Refuse an output limit that is no limit or beyond the context."""
    if value is None:
        return
    if value < 1:
        raise bad_request(f"max_tokens must be at least 1, got {value}.", name, value)
    if value > max_model_len:
        raise bad_request(
            f"max_tokens={value} cannot be greater than max_model_len={max_model_len}. Please "
            "request fewer output tokens.",
            name,
            value,
        )

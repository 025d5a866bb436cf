"""JSON as short as it can be written."""

import json


def compact_json(value: object) -> bytes:
    """`value` in UTF-8; text with lone surrogates, which UTF-8 has not, comes escaped instead."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")

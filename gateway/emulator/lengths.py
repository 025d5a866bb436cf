"""Answers of a known length: a mark in the last message says after how many tokens the model ends.

A load test draws the lengths of answers beforehand, yet nobody between client and engine may read
them off the request's fields: real clients do not know them either. The mark is plain text, so it
passes every gateway, those too that drop fields which they do not know.
"""

import re
from dataclasses import replace
from typing import Final

from gateway.emulator.generation import Limits

_MARK: Final = re.compile(r"\[\[answer of ([1-9][0-9]{0,8}) tokens\]\]")


def length_mark(answer_tokens: int) -> str:
    """The text that asks for an answer of so many tokens, its end token included."""
    return f"[[answer of {answer_tokens} tokens]]"


def marked(rules: Limits, last_message: str) -> Limits:
    """The rules for an answer to this message: those given, where it has no mark."""
    found = _MARK.findall(last_message)
    return replace(rules, ends_after=int(found[-1])) if found else rules

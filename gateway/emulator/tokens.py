"""A toy tokenizer with an exact round trip, whose tokens do not depend on what follows them.

`decode(encode(text)) == text` for every Unicode text, and for text made of generated tokens
`encode(prompt + generated) == encode(prompt) + generated ids`, so that a continuation of a text
sees the very prefix that the uninterrupted generation saw.

Ids: specials, then 256 bytes (byte fallback), then CJK ideographs one by one, then a list of
words (each bare and with a leading blank), then pieces of one to three letters (likewise).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gateway.emulator.vocabulary import WORDS

SPECIALS: Final = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
)
END_OF_TEXT, IM_START, IM_END, THINK, THINK_END, TOOL_CALL, TOOL_CALL_END = range(len(SPECIALS))

BYTE_BASE: Final = len(SPECIALS)
CJK_BASE: Final = BYTE_BASE + 256
_CJK_FIRST, _CJK_LAST = 0x4E00, 0x9FFF
WORD_BASE: Final = CJK_BASE + (_CJK_LAST - _CJK_FIRST + 1)
PIECE_BASE: Final = WORD_BASE + 2 * len(WORDS)
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LETTER_CODE: Final[Mapping[str, int]] = {
    letter: code for code, letter in enumerate(_LETTERS, start=1)
}
_RADIX: Final = len(_LETTERS) + 1
_PIECES: Final = _RADIX**3
VOCAB_SIZE: Final = PIECE_BASE + 2 * _PIECES

_WORD_ID: Final[Mapping[str, int]] = {
    word: WORD_BASE + 2 * index for index, word in enumerate(WORDS)
}
_PATTERN: Final = re.compile(
    "|".join(map(re.escape, SPECIALS)) + r"|( ?)([A-Za-z]+)|([\u4e00-\u9fff])|(.)", re.DOTALL
)
_SPECIAL_ID: Final[Mapping[str, int]] = {special: index for index, special in enumerate(SPECIALS)}


def byte_id(value: int) -> int:
    """The id of one byte."""
    return BYTE_BASE + value


def cjk_id(character: str) -> int:
    """The id of one ideograph (U+4E00 to U+9FFF)."""
    return CJK_BASE + ord(character) - _CJK_FIRST


def word_id(word: str, *, blank: bool) -> int:
    """The id of a word of the vocabulary, with or without a leading blank."""
    return _WORD_ID[word] + blank


def is_cjk(token: int) -> bool:
    """Whether a token is an ideograph."""
    return CJK_BASE <= token < WORD_BASE


def is_word(token: int) -> bool:
    """Whether a token is a word or a piece of one."""
    return WORD_BASE <= token < VOCAB_SIZE


def encode(text: str) -> list[int]:
    """The token ids of `text`. UnicodeEncodeError for a lone surrogate."""
    ids: list[int] = []
    for match in _PATTERN.finditer(text):
        blank, letters, ideograph, other = match.groups()
        if letters is not None:
            known = _WORD_ID.get(letters)
            if known is not None:
                ids.append(known + (blank == " "))
            else:
                ids.extend(_pieces(letters, blank == " "))
        elif ideograph is not None:
            ids.append(CJK_BASE + ord(ideograph) - _CJK_FIRST)
        elif other is not None:
            ids.extend(BYTE_BASE + value for value in other.encode())
        else:
            ids.append(_SPECIAL_ID[match.group()])
    return ids


def token_bytes(token: int) -> bytes:
    """The bytes that one token stands for. ValueError when there is no such token."""
    if token < 0 or token >= VOCAB_SIZE:
        raise ValueError(f"Token id {token} is out of vocabulary")
    if token < BYTE_BASE:
        return SPECIALS[token].encode()
    if token < CJK_BASE:
        return bytes((token - BYTE_BASE,))
    if token < WORD_BASE:
        return chr(token - CJK_BASE + _CJK_FIRST).encode()
    if token < PIECE_BASE:
        index, blank = divmod(token - WORD_BASE, 2)
        return (" " * blank + WORDS[index]).encode()
    code, blank = divmod(token - PIECE_BASE, 2)
    letters = ""
    while code:
        code, low = divmod(code, _RADIX)
        letters = (_LETTERS[low - 1] if low else "") + letters
    return (" " * blank + letters).encode()


def decode(ids: Iterable[int]) -> str:
    """The text of `ids`; bytes that are no UTF-8 become U+FFFD."""
    return b"".join(map(token_bytes, ids)).decode(errors="replace")


def first_unknown(ids: Sequence[int]) -> int | None:
    """The first id outside the vocabulary."""
    return next((token for token in ids if not 0 <= token < VOCAB_SIZE), None)


def _pieces(letters: str, blank: bool) -> Iterable[int]:
    for start in range(0, len(letters), 3):
        code = 0
        for letter in letters[start : start + 3]:
            code = code * _RADIX + _LETTER_CODE[letter]
        yield PIECE_BASE + 2 * code + (blank and start == 0)

"""Reads redirections and the delimiters of here-documents."""

import re
from typing import Final

from gateway.adoption.shell.reader.reading import Reading
from gateway.adoption.shell.reader.style import META
from gateway.adoption.shell.reader.word_reader import read_word
from gateway.adoption.shell.syntax import HereDocument, Redirect, Word

_REDIRECT: Final = re.compile(
    r"(?:([0-9]{1,4})|\{[A-Za-z_]\w*\})?(<<<|<<-|<<(?!<)|<&|>&|>>|>\||<>|[<>](?!\()|(?<!\d)&>>?)"
)
# `{name}>file` opens one from here on.
_FIRST_FREE: Final = 10
_DELIMITER: Final = re.compile(
    r"(?:\\.|'[^']*'|\"[^\"]*\"|[^\\'\"" + re.escape(META) + r"])++", re.S
)
_QUOTING: Final = re.compile(r"\\(.)|'([^']*)'|\"([^\"]*)\"", re.S)


def read_redirect(r: Reading) -> Redirect | None:
    """The redirection that begins here, if one does."""
    found = r.match(_REDIRECT)
    if found is None:
        return None
    number, operator = found.groups()
    descriptor = int(number) if number else None
    if found[0].startswith("{"):
        descriptor = _FIRST_FREE
    r.skip_blanks()
    if operator in {"<<", "<<-"}:
        return Redirect(operator, _read_delimiter(r, operator == "<<-"), descriptor)
    target = read_word(r)
    if not target.parts:
        raise r.unexpected()
    return Redirect(operator, target, descriptor)


def read_redirects(r: Reading) -> tuple[Redirect, ...]:
    """The redirections behind a construct."""
    redirects: list[Redirect] = []
    while True:
        r.skip_blanks()
        redirect = read_redirect(r)
        if redirect is None:
            return tuple(redirects)
        redirects.append(redirect)


def _read_delimiter(r: Reading, strips_tabs: bool) -> HereDocument:
    found = r.match(_DELIMITER)
    if found is None:
        raise r.unexpected()
    written = found[0].replace("\\\n", "")
    delimiter = _QUOTING.sub(lambda m: m[1] or m[2] or m[3] or "", written)
    document = HereDocument(delimiter, written != delimiter, strips_tabs)
    r.pending.append(document)
    return document


def is_here_text(redirect: Redirect) -> bool:
    """Whether it feeds a text that stands in the script itself."""
    return redirect.operator in {"<<", "<<-", "<<<"}


def here_word(redirect: Redirect) -> Word:
    """The text that a here-document or here-string feeds, before expansion."""
    target = redirect.target
    return target.body if isinstance(target, HereDocument) else target

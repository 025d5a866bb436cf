"""Every code has a text in both languages, with the same blanks to fill in."""

import string

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.telling import TEXTS, in_order, message_of, told
from gateway.adoption.texts_containers import CONTAINERS
from gateway.adoption.texts_engine import ENGINE
from gateway.adoption.texts_merging import MERGING
from gateway.adoption.texts_shell import SHELL
from gateway.adoption.texts_traps import TRAP_TEXTS
from gateway.words import Language


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_code_has_exactly_one_text() -> None:
    tables = (SHELL, ENGINE, CONTAINERS, MERGING, TRAP_TEXTS)
    codes = [code for table in tables for code in table]
    assert sorted(codes) == sorted(Code)


@pytest.mark.parametrize("code", list(Code))
def test_both_languages_say_the_same(code: Code) -> None:
    text = TEXTS[code]
    for words in (text.message, text.remedy):
        assert words.en
        assert words.en != words.zh
        assert any("\u4e00" <= ch <= "\u9fff" for ch in words.zh), words.zh
        assert not any("\u4e00" <= ch <= "\u9fff" for ch in words.en), words.en
    named = fields(text.message.en) | fields(text.remedy.en)
    assert named == fields(text.message.zh) | fields(text.remedy.zh)


def test_a_finding_in_both_languages() -> None:
    finding = Finding(Code.VARIABLE_UNSET, Origin("a.sh", 7), {"variable": "MODEL"}, "9b")
    english, chinese = told(finding, Language.EN), told(finding, Language.ZH)
    assert english.startswith("a.sh:7: ")
    assert "backend 9b: " in english
    assert "[variable_unset]\n    " in english
    assert "后端 9b：" in chinese
    assert "MODEL" in english
    assert "MODEL" in chinese


def test_values_cannot_break_the_line() -> None:
    finding = Finding(Code.VARIABLE_UNSET, Origin("a", 1), {"variable": "a\nb" + "x" * 10_000})
    message = message_of(finding, Language.EN)
    assert "\n" not in message
    assert len(message) < 1000


def test_the_worst_comes_first_and_each_once() -> None:
    note = Finding(Code.NOTHING_FOUND, Origin("a"))
    trap = Finding(Code.NO_API_KEY, Origin("z", 9), {"port": "1"}, "b")
    assert [f.code for f in in_order((note, trap, note, trap))] == [trap.code, note.code]

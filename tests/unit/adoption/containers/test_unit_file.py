import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.containers.unit_file import Setting, read_unit, split_unit_words

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

UNIT = """\
# comment
[Unit]
Description = a b
Outside
[Service]
Environment=A=1
ExecStart=/usr/bin/a \\
# in between
; and here
  --b \\
  --c

Environment=
Environment=B=2
ExecStart=/usr/bin/d"""


def test_sections_comments_and_continued_lines() -> None:
    unit = read_unit(UNIT.replace("\n", "\r\n"))
    assert unit.settings[0] == Setting("Unit", "Description", "a b", 3)
    assert unit.every("Service", "ExecStart") == (
        Setting("Service", "ExecStart", "/usr/bin/a --b --c", 7),
        Setting("Service", "ExecStart", "/usr/bin/d", 15),
    )
    assert unit.has_section("Container", "Service")
    assert not unit.has_section("Container")


def test_an_empty_setting_drops_those_before_it() -> None:
    unit = read_unit(UNIT)
    assert [setting.value for setting in unit.every("Service", "Environment")] == ["B=2"]
    assert unit.last("Service", "Environment") == "B=2"
    assert unit.last("Service", "Nothing") == ""


def test_a_last_line_that_goes_on_is_not_lost() -> None:
    assert read_unit("[Service]\nExecStart=a \\").last("Service", "ExecStart") == "a"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a  b\tc", ["a", "b", "c"]),
        ("'a b' \"c d\"", ["a b", "c d"]),
        ("x='a b'", ["x=a b"]),
        ("'' a", ["", "a"]),
        ('\'{"a": [1, 2]}\' "{\\"b\\": 1}"', ['{"a": [1, 2]}', '{"b": 1}']),
        (r"a\x20b a\sb a\040b \u00e9 \U0001F600", ["a b", "a b", "a b", "é", "😀"]),
        (r"\n\t\\ \" \q", ["\n\t\\", '"', "q"]),
        (r"\x00\UFFFFFFFFx \uD800", ["x", ""]),
        ("a\\", ["a\\"]),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert split_unit_words(text) == tuple(words)


@pytest.mark.parametrize(("text", "quote"), [("a 'b", "'"), ('"', '"')])
def test_an_open_quote_is_refused(text: str, quote: str) -> None:
    with pytest.raises(ValueError, match=f"^{quote}$"):
        split_unit_words(text)


@UNHURRIED
@given(st.text(alphabet="[]ServiceA=\\\n#'\"x ", max_size=80))
def test_any_text_is_read(text: str) -> None:
    for setting in read_unit(text).settings:
        assert setting.key == setting.key.strip()

import shlex

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.containers.command_words import CommandWords, split_command

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("vllm serve /m --port 8000", ["vllm", "serve", "/m", "--port", "8000"]),
        ("a\n  b\tc \r\n", ["a", "b", "c"]),
        ("""a '{"x": [1, 2]}' "b c" d'e'"f" """, ["a", '{"x": [1, 2]}', "b c", "def"]),
        (r'a "{\"x\": 1}" b\ c', ["a", '{"x": 1}', "b c"]),
        (r"a 'b\c'", ["a", r"b\c"]),
        ("a '' b", ["a", "", "b"]),
        ("a > log", ["a"]),
        ("a 2>&1 | tee log", ["a"]),
        ("a -tp 2 > log", ["a", "-tp", "2"]),
        ("a && b", ["a"]),
        ("a ';' b", ["a", ";", "b"]),
        ("a #b", ["a", "#b"]),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert split_command(text) == CommandWords(tuple(words))


@pytest.mark.parametrize(
    "text", ["a \\ --port 1", "a \\\n  --port 1", "a \\\r\n --port 1", "a --port 1 \\"]
)
def test_a_backslash_at_the_end_of_a_line_is_told(text: str) -> None:
    assert split_command(text) == CommandWords(("a", "--port", "1"), has_backslash=True)


def test_an_open_quote_is_told() -> None:
    assert split_command("a 'b c") == CommandWords(("a", "b c"), open_quote="'")


@UNHURRIED
@given(st.lists(st.text(alphabet="ab'\"\\ $|>;{}", min_size=1, max_size=6), max_size=6))
def test_quoted_words_come_back(words: list[str]) -> None:
    assert split_command(shlex.join(words)).words == tuple(words)

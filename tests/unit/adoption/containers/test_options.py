import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.containers.docker_options import CLIENT, EXEC, RUN
from gateway.adoption.containers.options import Option, grammar, read_options

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

GRAMMAR = grammar("env publish name", "tty interactive rm", "e=env p=publish t=tty i=interactive")
MIXED = grammar("name", "tty", "t=tty", is_mixed=True)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--env", "A=b", "x"], [("env", "A=b")]),
        (["--env=A=b", "x"], [("env", "A=b")]),
        (["--env=", "x"], [("env", "")]),
        (["-e", "A=b", "x"], [("env", "A=b")]),
        (["-eA=b", "x"], [("env", "A=b")]),
        (["-e=A=b", "x"], [("env", "A=b")]),
        (["-it", "x"], [("interactive", None), ("tty", None)]),
        (["-itp", "80:80", "x"], [("interactive", None), ("tty", None), ("publish", "80:80")]),
        (["-itp80:80", "x"], [("interactive", None), ("tty", None), ("publish", "80:80")]),
        (["-t=false", "x"], [("tty", "false")]),
        (["--rm=true", "x"], [("rm", "true")]),
        (["--env", "-1", "x"], [("env", "-1")]),
        (["--rm", "--", "x"], [("rm", None)]),
        (["x", "--env", "A=b"], []),
    ],
)
def test_every_spelling_is_read(words: list[str], options: list[tuple[str, str | None]]) -> None:
    parsed = read_options(words, GRAMMAR)
    assert list(parsed.options) == [Option(*option) for option in options]
    assert parsed.words[0] == "x"
    assert parsed.unknown == ()


@pytest.mark.parametrize(
    ("words", "left", "unknown"),
    [
        (["--what", "value", "image"], ("image",), ("--what",)),
        (["--what", "-t", "image"], ("image",), ("--what",)),
        (["--what=value", "image"], ("image",), ("--what",)),
        (["--what", "image"], ("image",), ("--what",)),
        (["-Z", "image"], ("image",), ("-Z",)),
        (["--env"], (), ()),
        (["-"], ("-",), ()),
        ([], (), ()),
    ],
)
def test_what_is_unknown_is_told(
    words: list[str], left: tuple[str, ...], unknown: tuple[str, ...]
) -> None:
    parsed = read_options(words, GRAMMAR)
    assert (parsed.words, parsed.unknown) == (left, unknown)


def test_options_behind_words_count_where_the_tool_mixes_them() -> None:
    parsed = read_options(["exec", "-t", "pod", "--name", "c", "--", "sh", "-t"], MIXED)
    assert parsed.words == ("exec", "pod", "sh", "-t")
    assert parsed.last("name") == "c"
    assert parsed.has("tty")


def test_the_last_of_several_counts_and_a_switch_can_be_turned_off() -> None:
    parsed = read_options(["--name", "a", "--name=b", "--rm", "--rm=false", "x"], GRAMMAR)
    assert parsed.last("name") == "b"
    assert parsed.every("name") == ("a", "b")
    assert not parsed.has("rm")
    assert parsed.last("env") is None


@pytest.mark.parametrize("table", [RUN, EXEC, CLIENT])
def test_no_option_is_both_a_switch_and_valued(table: object) -> None:
    assert isinstance(table, type(GRAMMAR))
    assert not table.valued & table.switches
    assert {name for _, name in table.shorts} <= table.valued | table.switches


@UNHURRIED
@given(st.lists(st.text(alphabet="-=aepti ", max_size=6), max_size=8))
def test_no_word_is_lost_or_made_up(words: list[str]) -> None:
    parsed = read_options(words, GRAMMAR)
    assert list(parsed.words) == words[len(words) - len(parsed.words) :]

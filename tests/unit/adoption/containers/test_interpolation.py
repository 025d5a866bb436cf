from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.containers.interpolation import (
    MAX_CHARS,
    Interpolated,
    expand_references,
    interpolate,
)

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

KNOWN = {"A": "x", "EMPTY": ""}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("plain", Interpolated("plain")),
        ("$A ${A}", Interpolated("x x")),
        ("$A.b ${A}b $Ab", Interpolated("x.b xb ", ("Ab",))),
        ("$$A $${A}", Interpolated("$A ${A}")),
        ("${B}", Interpolated("", ("B",))),
        ("${B:-d}", Interpolated("d", (), (("B", "d"),))),
        ("${B-d}", Interpolated("d", (), (("B", "d"),))),
        ("${EMPTY:-d}", Interpolated("d", (), (("EMPTY", "d"),))),
        ("${EMPTY-d}", Interpolated("")),
        ("${A:-d}", Interpolated("x")),
        ("${B:-}", Interpolated("", (), (("B", ""),))),
        ("${B:?must be set}", Interpolated("", ("B",))),
        ("${A:?no}", Interpolated("x")),
        ("${A:+yes}${B:+yes}${A+yes}", Interpolated("yesyes")),
        ("${B:-${C:-d}}", Interpolated("d", (), (("C", "d"), ("B", "d")))),
        ("${B:-${A}/m}", Interpolated("x/m", (), (("B", "x/m"),))),
        ("${B:-${C}}", Interpolated("", ("C",), (("B", ""),))),
        ('${B:-{"a": 1}', Interpolated('{"a": 1', (), (("B", '{"a": 1'),))),
        ("${1A} ${A $ ${A:x}", Interpolated("${1A} ${A $ ${A:x}")),
        ("${B:-open", Interpolated("${B:-open")),
        ("$(hostname)", Interpolated("$(hostname)")),
    ],
)
def test_compose_variables(text: str, result: Interpolated) -> None:
    assert interpolate(text, KNOWN) == result


def test_a_text_that_doubles_itself_is_stopped() -> None:
    value = "x"
    for _ in range(60):
        value = interpolate("$A$A", {"A": value}).text
        assert len(value) <= MAX_CHARS
    reference = "x"
    for _ in range(60):
        reference = expand_references("$(A)$(A)", {"A": reference})[0]
        assert len(reference) <= MAX_CHARS


def test_many_open_braces_take_no_time() -> None:
    text = "${A:-" * 40_000
    assert interpolate(text, {}).text == text


@pytest.mark.parametrize(
    ("text", "expanded", "unset"),
    [
        ("--port=$(PORT)", "--port=80", ()),
        ("$(PORT)$(PORT)", "8080", ()),
        ("$$(PORT)", "$(PORT)", ()),
        ("$(SECRET)!", "!", ("SECRET",)),
        ("$(hostname -i) $(date)", "$(hostname -i) $(date)", ()),
        ("$PORT ${PORT}", "$PORT ${PORT}", ()),
    ],
)
def test_kubernetes_references(text: str, expanded: str, unset: tuple[str, ...]) -> None:
    variables: Mapping[str, str | None] = {"PORT": "80", "SECRET": None}
    assert expand_references(text, variables) == (expanded, unset)


@UNHURRIED
@given(st.text(alphabet="${}():-?+AB x", max_size=60))
def test_any_text_is_read(text: str) -> None:
    interpolate(text, {"A": "1"})
    expand_references(text, {"A": "1"})

"""Every trap has a case that shows it, one that nearly does, texts that fill, and a rule."""

import inspect
import string
from collections.abc import Iterator
from types import ModuleType
from typing import Final

import pytest

from gateway.adoption.candidate import Fleet
from gateway.adoption.codes import Code
from gateway.adoption.rules import (
    capture,
    chip_310p,
    chip_untold,
    container_names,
    containers,
    devices,
    every,
    exposure,
    hybrid,
    lone_logs,
    memory_310p,
    network,
    options,
    running,
    together,
    traps_of,
    weights,
)
from gateway.adoption.texts import Severity
from gateway.adoption.texts_traps import TRAP_TEXTS
from gateway.words import Language
from tests.unit.adoption.rules import (
    test_capture,
    test_chip_310p,
    test_chip_untold,
    test_container_names,
    test_containers,
    test_devices,
    test_exposure,
    test_hybrid,
    test_lone_logs,
    test_memory_310p,
    test_network,
    test_options,
    test_running,
    test_together,
    test_weights,
)
from tests.unit.adoption.rules.backends import Case, backend, by_hand, found_in, on_host

TESTED: Final = (
    test_capture,
    test_chip_310p,
    test_chip_untold,
    test_container_names,
    test_containers,
    test_devices,
    test_exposure,
    test_hybrid,
    test_lone_logs,
    test_memory_310p,
    test_network,
    test_options,
    test_running,
    test_together,
    test_weights,
)
RULES: Final = (
    capture,
    chip_310p,
    chip_untold,
    container_names,
    containers,
    devices,
    exposure,
    hybrid,
    lone_logs,
    memory_310p,
    network,
    options,
    running,
    together,
    weights,
)
FIRES: Final[tuple[Case, ...]] = tuple(case for module in TESTED for case in module.FIRES)
QUIET: Final[tuple[Case, ...]] = tuple(case for module in TESTED for case in module.QUIET)


def trap_codes() -> set[Code]:
    """The codes of the blocks that begin with `# traps`."""
    codes: set[Code] = set()
    is_trap = False
    for line in inspect.getsource(Code).splitlines():
        text = line.strip()
        if text.startswith("#"):
            is_trap = text.startswith("# traps")
        elif is_trap and " = " in text:
            codes.add(Code[text.split(" = ")[0]])
    return codes


def test_every_trap_has_a_case_that_shows_it_and_one_that_nearly_does() -> None:
    codes = trap_codes()
    assert len(codes) > 60
    assert {case.code for case in FIRES} == codes
    assert {case.code for case in QUIET} == codes


def test_every_trap_has_texts() -> None:
    assert set(TRAP_TEXTS) == trap_codes()
    severities = {text.severity for text in TRAP_TEXTS.values()}
    assert severities == {Severity.CONTRADICTION, Severity.TRAP, Severity.NOTE}


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@pytest.mark.parametrize("code", sorted(TRAP_TEXTS))
def test_both_languages_tell_the_same_values(code: Code) -> None:
    text = TRAP_TEXTS[code]
    assert fields(text.message.en) == fields(text.message.zh)
    assert fields(text.remedy.en) == fields(text.remedy.zh)
    assert any("\u4e00" <= letter <= "\u9fff" for letter in text.message.zh)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_texts_are_filled_by_what_was_found(case: Case) -> None:
    (finding,) = found_in(case)
    text = TRAP_TEXTS[case.code]
    for words in (text.message, text.remedy):
        for language in Language:
            told = words.spoken(language).format(**finding.values)
            assert "{}" not in told
            assert "{{" not in told
    assert all(finding.values.values())


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_a_finding_points_at_a_file_and_a_backend(case: Case) -> None:
    (finding,) = found_in(case)
    assert finding.origin.file
    names = {candidate.name for candidate in case.fleet.candidates}
    assert finding.backend in (names or {""}) | {""}
    assert finding.backend or case.fleet.containers or case.fleet.logs


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_nothing_is_told_twice(case: Case) -> None:
    found = traps_of(case.fleet)
    told = [(f.code, f.backend, f.origin, tuple(sorted(f.values.items()))) for f in found]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("fleet", [Fleet(), Fleet((backend(),)), Fleet((on_host(),))])
def test_good_backends_have_no_traps(fleet: Fleet) -> None:
    assert traps_of(fleet) == ()


def test_a_backend_started_by_hand_is_good_but_for_its_shell() -> None:
    found = traps_of(Fleet((by_hand(),)))
    assert found == ()


def rules_in(module: ModuleType) -> Iterator[object]:
    for name, value in vars(module).items():
        is_own = inspect.isfunction(value) and value.__module__ == module.__name__
        if is_own and not name.startswith("_"):
            returned = inspect.signature(value).return_annotation
            if "Iterator" in str(returned):
                yield value


def test_every_rule_is_listed_once() -> None:
    listed = (*every.OF_BACKEND, *every.OF_FLEET_AND_CONTAINERS, *every.OF_FLEET)
    assert len(listed) == len(set(listed))
    assert set(listed) == {rule for module in RULES for rule in rules_in(module)}
    assert set(every.OF_CONTAINER) <= set(every.OF_BACKEND)

from typing import Final

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.rules import traps_of
from gateway.adoption.rules.chip_untold import RULES_310P
from gateway.config.vocabulary import Chip
from tests.unit.adoption.rules.backends import Case, backend, case, found_in

AIV: Final = {"HCCL_OP_EXPANSION_MODE": "AIV"}
BF16: Final = {"dtype": "bfloat16", "mamba_ssm_cache_dtype": None, "fuse_norm_quant": None}
MTP: Final = {"has_speculation": True, "speculative_tokens": 1, "capture_sizes": (2, 4)}

FIRES: Final = (
    case(Code.CHIP_UNTOLD, "float16", backend(env=AIV, chip=None), codes="aiv_310p"),
    case(
        Code.CHIP_UNTOLD,
        "several",
        backend(MTP, env=AIV, chip=None, version=None),
        codes="aiv_310p, speculation_310p",
    ),
    case(
        Code.CHIP_UNTOLD,
        "the name of the weights",
        backend(BF16 | {"model": "/m/Qwen3-8B-w8a8sc-310-vllm"}, env=AIV, chip=None),
        codes="aiv_310p, dtype_310p",
    ),
    case(
        Code.CHIP_UNTOLD,
        "an option that only 310P needs",
        backend(BF16 | {"fuse_norm_quant": False}, chip=None),
    ),
)

QUIET: Final = (
    case(Code.CHIP_UNTOLD, "nothing to tell", backend(chip=None)),
    case(Code.CHIP_UNTOLD, "unlikely", backend(BF16, env=AIV, chip=None)),
    case(
        Code.CHIP_UNTOLD,
        "a number that only looks like it",
        backend(BF16 | {"model": "/models/step-3105"}, env=AIV, chip=None),
    ),
    case(Code.CHIP_UNTOLD, "told", backend(env=AIV)),
    case(Code.CHIP_UNTOLD, "another chip", backend(env=AIV, chip=Chip.A3)),
    case(Code.CHIP_UNTOLD, "no command", backend(env=AIV, chip=None, arguments=None)),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []


def test_nothing_about_310p_is_said_of_a_chip_that_is_not_known() -> None:
    one = case(Code.CHIP_UNTOLD, "", backend(MTP | {"dtype": None}, env=AIV, chip=None))
    told = {finding.code for finding in traps_of(one.fleet)}
    assert {code for code in told if code.endswith("_310p")} == set()


@pytest.mark.parametrize("rule", RULES_310P)
def test_rules_of_310p_say_nothing_of_other_chips(rule) -> None:  # type: ignore[no-untyped-def]
    worst = MTP | {"dtype": None, "has_kv_transfer": True, "capture_sizes": (1, 2, 4, 8)}
    for chip in (Chip.A2, Chip.A3, None):
        assert list(rule(backend(worst, env=AIV, chip=chip, version=(0, 20, 2)))) == []

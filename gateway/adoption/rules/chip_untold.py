"""Rule: where no source tells the chip, what would be a trap on a likely 310P is named."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules import capture, chip_310p, memory_310p
from gateway.adoption.rules.reading import joined
from gateway.adoption.rules.rule import Rule, at_launch, found
from gateway.config.vocabulary import Chip

RULES_310P: Final[tuple[Rule, ...]] = (
    capture.capture_too_many,
    chip_310p.graph_mode_310p,
    chip_310p.speculation_310p,
    chip_310p.aiv_310p,
    chip_310p.dtype_310p,
    chip_310p.ssm_dtype_310p,
    chip_310p.fuse_norm_quant_310p,
    chip_310p.unsupported_310p,
    chip_310p.not_listed_310p,
    memory_310p.context_unset_310p,
    memory_310p.mask_memory_310p,
)
"""Every rule that fires on 310P alone."""

_310P: Final = re.compile(r"(?<!\d)310p?(?!\d)", re.IGNORECASE)


def chip_untold(candidate: Candidate) -> Iterator[Finding]:
    """The chip is known, so that what it can't do is known, too.

    float16 in a command is a sign of 310P: other chips are left with the model's own bfloat16.
    """
    if candidate.chip is not None or not _may_be_310p(candidate):
        return
    as_310p = replace(candidate, chip=Chip.A310P)
    codes = sorted({finding.code for rule in RULES_310P for finding in rule(as_310p)})
    if codes:
        yield found(Code.CHIP_UNTOLD, candidate, at_launch(candidate), codes=joined(codes))


def _may_be_310p(candidate: Candidate) -> bool:
    arguments = candidate.arguments
    if arguments is None:
        return False
    if arguments.dtype in ("float16", "half") or arguments.mamba_ssm_cache_dtype == "float16":
        return True
    return arguments.fuse_norm_quant is False or bool(_310P.search(candidate.model_path or ""))

"""Rules: the context and the way of loading fit the model's files."""

import re
from collections.abc import Iterator
from typing import Final

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.reading import is_set, tensor_parallel_of
from gateway.adoption.rules.rule import at_launch, found
from gateway.config.containers import short_name

LONG_CONTEXT: Final = "VLLM_ALLOW_LONG_MAX_MODEL_LEN"
_QWEN3_TOKENS: Final = 40960
"""max_position_embeddings in config.json of the first Qwen3 models, 0.6B to 235B-A22B."""

_QWEN3: Final = re.compile(
    r"qwen3-\d+(?:\.\d+)?b(?!.*(?:2507|instruct|thinking|coder|vl(?!lm)|omni))"
)
_STRETCHES: Final = ("--hf-overrides", "--rope-scaling", "--hf-config-path")
_SHARDED: Final = re.compile(r"w8a8sc|(?:^|[/_-])tp(\d+)(?=[/_-]|$)", re.IGNORECASE)
_WIDTH: Final = re.compile(r"(?:^|[/_-])tp(\d+)(?=[/_-]|$)", re.IGNORECASE)


def long_context(candidate: Candidate) -> Iterator[Finding]:
    """The context is one that the model was made for, or is allowed to be longer."""
    if is_set(candidate, LONG_CONTEXT):
        yield found(
            Code.LONG_CONTEXT_ALLOWED,
            candidate,
            at_launch(candidate),
            length=candidate.max_model_len or "-",
        )
        return
    arguments, launch = candidate.arguments, candidate.launch
    if arguments is None or launch is None or arguments.max_model_len is None:
        return
    options = {word.partition("=")[0].replace("_", "-") for word in launch.argv}
    is_qwen3 = _QWEN3.match(short_name(candidate.model_path or "")) is not None
    if is_qwen3 and arguments.max_model_len > _QWEN3_TOKENS and not options & set(_STRETCHES):
        yield found(
            Code.LONG_CONTEXT_REFUSED,
            candidate,
            at_launch(candidate),
            length=arguments.max_model_len,
            own=_QWEN3_TOKENS,
            model=candidate.model_path or "",
        )


def sharded_weights(candidate: Candidate) -> Iterator[Finding]:
    """Weights that were cut for one TP size are loaded as such, with that size."""
    arguments, path = candidate.arguments, candidate.model_path
    if arguments is None or path is None or not _SHARDED.search(path):
        return
    if arguments.load_format != "sharded_state":
        yield found(
            Code.SHARDED_FORMAT_MISSING,
            candidate,
            at_launch(candidate),
            model=path,
            format=arguments.load_format or "auto",
        )
    widths = {int(width) for width in _WIDTH.findall(path)}
    tp = tensor_parallel_of(candidate) or 1
    if widths and tp not in widths:
        yield found(
            Code.SHARDED_OTHER_WIDTH,
            candidate,
            at_launch(candidate),
            model=path,
            width="/".join(map(str, sorted(widths))),
            tp=tp,
        )

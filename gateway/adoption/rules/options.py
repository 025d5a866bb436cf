"""Rules: the options and variables of an engine fit together."""

import re
from collections.abc import Iterator
from typing import Final

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.reading import is_generating, model_words, seqs_of
from gateway.adoption.rules.rule import at_launch, found

_ALLOCATOR: Final = "PYTORCH_NPU_ALLOC_CONF"
_AGAINST_EXPANDABLE: Final = ("max_split_size_mb", "garbage_collection_threshold")
_THINKS: Final = re.compile(
    r"qwen3\.[5-9]|qwen3-\d+(?:\.\d+)?b(?!.*(?:instruct|coder|vl(?!lm)|embed|rerank))|qwq|deepseek-r1"
)


def batched_tokens_too_few(candidate: Candidate) -> Iterator[Finding]:
    """A step has room for at least one token of each running request."""
    tokens, seqs = candidate.max_num_batched_tokens, seqs_of(candidate)
    if tokens is not None and seqs is not None and tokens < seqs:
        yield found(
            Code.BATCHED_TOKENS_TOO_FEW,
            candidate,
            at_launch(candidate),
            tokens=tokens,
            seqs=seqs,
        )


def served_name_missing(candidate: Candidate) -> Iterator[Finding]:
    """Clients ask by a name, not by a path of one machine."""
    arguments = candidate.arguments
    if arguments is not None and arguments.model and not arguments.served_names:
        yield found(
            Code.SERVED_NAME_MISSING, candidate, at_launch(candidate), model=arguments.model
        )


def old_entry_point(candidate: Candidate) -> Iterator[Finding]:
    """`vllm serve` has replaced the module."""
    if candidate.arguments is not None and candidate.arguments.is_old_entry_point:
        yield found(Code.OLD_ENTRY_POINT, candidate, at_launch(candidate))


def alloc_conf_conflict(candidate: Candidate) -> Iterator[Finding]:
    """Expandable segments go neither with a split size nor with sleep mode.

    From vllm-ascend platform.py and device_allocator/camem.py.
    """
    conf = candidate.environment.get(_ALLOCATOR, "")
    settings = dict(_setting(part) for part in conf.split(","))
    if settings.get("expandable_segments") != "true":
        return
    others: list[str] = [name for name in _AGAINST_EXPANDABLE if name in settings]
    argv = candidate.launch.argv if candidate.launch else ()
    others += [word for word in argv if word.replace("_", "-") == "--enable-sleep-mode"]
    if others:
        yield found(
            Code.ALLOC_CONF_CONFLICT,
            candidate,
            at_launch(candidate),
            conf=conf,
            other=", ".join(others),
        )


def _setting(part: str) -> tuple[str, str]:
    name, _, value = part.partition(":")
    return name.strip().lower(), value.strip().lower()


def tool_option_alone(candidate: Candidate) -> Iterator[Finding]:
    """Automatic tool choice takes both: the switch and the parser."""
    arguments = candidate.arguments
    if arguments is None:
        return
    has_parser, has_switch = arguments.tool_call_parser is not None, arguments.has_auto_tool_choice
    if has_parser != has_switch:
        parser = arguments.tool_call_parser or "PARSER"
        names = (f"--tool-call-parser {parser}", "--enable-auto-tool-choice")
        given, missing = names if has_parser else names[::-1]
        yield found(
            Code.TOOL_OPTION_ALONE,
            candidate,
            at_launch(candidate),
            given=given,
            missing=missing,
        )


def reasoning_unparsed(candidate: Candidate) -> Iterator[Finding]:
    """What a model thinks is kept apart from what it answers."""
    arguments = candidate.arguments
    if arguments is None or arguments.reasoning_parser or not is_generating(candidate):
        return
    match = _THINKS.search(model_words(candidate))
    if match is not None:
        yield found(
            Code.REASONING_UNPARSED,
            candidate,
            at_launch(candidate),
            model=candidate.model_path or candidate.served_name,
            parser="qwen3" if match.group().startswith("qw") else "deepseek_r1",
        )


def data_parallel_inside(candidate: Candidate) -> Iterator[Finding]:
    """One port is one engine, with limits and numbers of its own."""
    arguments = candidate.arguments
    if arguments is None or arguments.is_data_parallel_external:
        return
    replicas = arguments.data_parallel_local or arguments.data_parallel or 1
    if replicas > 1 and arguments.data_parallel_rank is None:
        yield found(
            Code.DATA_PARALLEL_INSIDE,
            candidate,
            at_launch(candidate),
            engines=replicas,
            seqs=seqs_of(candidate) or "?",
        )

from typing import Final

import pytest

from gateway.adoption.codes import Code
from tests.unit.adoption.rules.backends import Case, backend, case, found_in

CONF: Final = "PYTORCH_NPU_ALLOC_CONF"
NO_PARSER: Final = {"reasoning_parser": None}

FIRES: Final = (
    case(
        Code.BATCHED_TOKENS_TOO_FEW,
        "fewer than requests",
        backend({"max_num_batched_tokens": 2}),
        tokens="2",
        seqs="4",
    ),
    case(
        Code.BATCHED_TOKENS_TOO_FEW,
        "fewer than the default of requests",
        backend({"max_num_batched_tokens": 128, "max_num_seqs": None}),
        seqs="256",
    ),
    case(
        Code.SERVED_NAME_MISSING,
        "a path",
        backend({"served_names": ()}),
        model="/models/Qwen3.5-9B",
    ),
    case(Code.OLD_ENTRY_POINT, "the module", backend({"is_old_entry_point": True})),
    case(
        Code.ALLOC_CONF_CONFLICT,
        "a split size",
        backend(env={CONF: "max_split_size_mb:512, expandable_segments:True"}),
        other="max_split_size_mb",
    ),
    case(
        Code.ALLOC_CONF_CONFLICT,
        "sleep mode",
        backend(env={CONF: "expandable_segments:True"}, options=("--enable-sleep-mode",)),
        other="--enable-sleep-mode",
    ),
    case(
        Code.TOOL_OPTION_ALONE,
        "the switch",
        backend({"tool_call_parser": None}),
        given="--enable-auto-tool-choice",
        missing="--tool-call-parser PARSER",
    ),
    case(
        Code.TOOL_OPTION_ALONE,
        "the parser",
        backend({"has_auto_tool_choice": False}),
        given="--tool-call-parser qwen3_coder",
        missing="--enable-auto-tool-choice",
    ),
    case(Code.REASONING_UNPARSED, "Qwen3.5", backend(NO_PARSER), parser="qwen3"),
    case(
        Code.REASONING_UNPARSED,
        "Qwen3",
        backend(NO_PARSER | {"model": "/models/Qwen3-8B-w8a8sc-310-vllm-tp2"}),
    ),
    case(
        Code.REASONING_UNPARSED,
        "DeepSeek",
        backend(NO_PARSER | {"model": "/models/DeepSeek-R1-Distill-Qwen-7B"}),
        parser="deepseek_r1",
    ),
    case(
        Code.DATA_PARALLEL_INSIDE,
        "two engines",
        backend({"data_parallel": 2}),
        engines="2",
        seqs="4",
    ),
)

QUIET: Final = (
    case(Code.BATCHED_TOKENS_TOO_FEW, "enough", backend({"max_num_batched_tokens": 4})),
    case(Code.BATCHED_TOKENS_TOO_FEW, "not given", backend()),
    case(Code.SERVED_NAME_MISSING, "given", backend()),
    case(Code.SERVED_NAME_MISSING, "no command", backend(arguments=None, served_names=())),
    case(Code.OLD_ENTRY_POINT, "vllm serve", backend()),
    case(Code.ALLOC_CONF_CONFLICT, "alone", backend(env={CONF: "expandable_segments:True"})),
    case(
        Code.ALLOC_CONF_CONFLICT, "a split size alone", backend(env={CONF: "max_split_size_mb:9"})
    ),
    case(
        Code.ALLOC_CONF_CONFLICT,
        "switched off",
        backend(env={CONF: "expandable_segments:False,max_split_size_mb:9"}),
    ),
    case(Code.ALLOC_CONF_CONFLICT, "sleep mode alone", backend(options=("--enable-sleep-mode",))),
    case(Code.TOOL_OPTION_ALONE, "both", backend()),
    case(
        Code.TOOL_OPTION_ALONE,
        "neither",
        backend({"tool_call_parser": None, "has_auto_tool_choice": False}),
    ),
    case(Code.REASONING_UNPARSED, "parsed", backend()),
    case(
        Code.REASONING_UNPARSED,
        "a model that does not think",
        backend(NO_PARSER | {"model": "/models/Qwen3-4B-Instruct-2507"}),
    ),
    case(
        Code.REASONING_UNPARSED,
        "an older one",
        backend(NO_PARSER | {"model": "/models/Qwen2.5-7B"}),
    ),
    case(Code.REASONING_UNPARSED, "embeddings", backend(NO_PARSER | {"runner": "pooling"})),
    case(Code.DATA_PARALLEL_INSIDE, "one engine", backend({"data_parallel": 1})),
    case(
        Code.DATA_PARALLEL_INSIDE,
        "a port for each",
        backend({"data_parallel": 4, "is_data_parallel_external": True}),
    ),
    case(
        Code.DATA_PARALLEL_INSIDE,
        "one rank of several",
        backend({"data_parallel": 4, "data_parallel_rank": 1}),
    ),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []

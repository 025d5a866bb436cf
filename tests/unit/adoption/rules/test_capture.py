from typing import Final

import pytest

from gateway.adoption.codes import Code
from gateway.config.vocabulary import Chip
from tests.unit.adoption.rules.backends import Case, backend, case, container, found_in

GRAPH: Final = "FULL_DECODE_ONLY"
FOUR: Final = (1, 2, 4, 8)
TP1: Final = {"tensor_parallel": 1}
A2: Final = {"chip": Chip.A2}

FIRES: Final = (
    case(
        Code.SEQS_ABOVE_CAPTURE,
        "the reference fleet",
        backend({"max_num_seqs": 8}),
        seqs="8",
        sizes="[1, 4]",
        largest="4",
        above="5",
        better="[4, 8]",
    ),
    case(
        Code.SEQS_ABOVE_CAPTURE,
        "elsewhere all sizes may stay",
        backend({"max_num_seqs": 40, "capture_sizes": FOUR}, **A2),
        better="[1, 2, 4, 8, 40]",
    ),
    case(
        Code.SEQS_ABOVE_CAPTURE,
        "with speculation sizes are tokens",
        backend({"capture_sizes": (2, 4), "has_speculation": True, "speculative_tokens": 1}, **A2),
        seqs="4",
        largest="2",
        better="[2, 4, 8]",
    ),
    case(
        Code.SEQS_NOT_GIVEN,
        "the default",
        backend({"max_num_seqs": None, "capture_sizes": (1, 2, 4, 8, 16)} | TP1),
        seqs="256",
        largest="16",
        above="17",
    ),
    case(
        Code.SEQS_OFF_GRID,
        "twelve",
        backend({"max_num_seqs": 12, "capture_sizes": None}),
        seqs="12",
        sizes="[1, 2, 4, 8]",
        largest="8",
        above="9",
    ),
    case(
        Code.SEQS_OFF_GRID,
        "above all sizes",
        backend({"max_num_seqs": 600, "capture_sizes": None}),
        largest="512",
    ),
    case(
        Code.CAPTURE_UNREACHABLE,
        "beside one that covers all",
        backend({"capture_sizes": (4, 16)}),
        above="[16]",
        usable="[4]",
        full="4",
    ),
    case(
        Code.CAPTURE_UNREACHABLE,
        "none is left",
        backend({"capture_sizes": (8,)}),
        above="[8]",
        usable="[]",
    ),
    case(
        Code.CAPTURE_TOO_MANY,
        "four",
        backend({"capture_sizes": FOUR, "max_num_seqs": 8}),
        count="4",
        sizes="[1, 2, 4, 8]",
        better="[4, 8]",
        tp="2",
    ),
    case(
        Code.CAPTURE_TOO_MANY,
        "chosen by the engine",
        backend({"capture_sizes": None, "max_num_seqs": 256}),
        sizes="[1, 2, 4, 8, 16, ..., 256]",
        better="[128, 256]",
    ),
    case(
        Code.CAPTURE_TOO_MANY,
        "far below max_num_seqs",
        backend({"capture_sizes": FOUR, "max_num_seqs": 40}),
        better="[8, 40]",
    ),
    case(
        Code.CAPTURE_OFF_STEP,
        "one token speculated",
        backend({"capture_sizes": (1, 4), "has_speculation": True, "speculative_tokens": 1}),
        off="[1]",
        right="[2, 4]",
        tokens="2",
        speculated="1",
    ),
    case(
        Code.CAPTURE_OFF_STEP,
        "three tokens speculated",
        backend({"capture_sizes": (4, 6), "has_speculation": True, "speculative_tokens": 3}),
        off="[6]",
        right="[4, 8]",
    ),
    case(
        Code.CAPTURE_MAX_DISAGREES,
        "larger",
        backend({"max_capture_size": 8}),
        sizes="[1, 4]",
        largest="8",
    ),
    case(
        Code.EAGER_BESIDE_GRAPH,
        "a mode",
        backend({"is_enforce_eager": True, "capture_sizes": None}),
        option="--enforce-eager",
        graphs=GRAPH,
    ),
    case(
        Code.EAGER_BESIDE_GRAPH,
        "sizes",
        backend({"is_enforce_eager": True, "cudagraph_mode": None}),
        graphs="[1, 4]",
    ),
    case(
        Code.EAGER_BESIDE_GRAPH,
        "no optimisation",
        backend({"optimization_level": 0}),
        option="-O0",
    ),
    case(
        Code.EAGER_BESIDE_GRAPH,
        "a mode of compilation that Ascend does not have",
        backend({"compilation_mode": "STOCK_TORCH_COMPILE"}),
        option='"mode": "STOCK_TORCH_COMPILE"',
    ),
    case(Code.LAUNCH_BLOCKING, "set", backend(env={"ASCEND_LAUNCH_BLOCKING": "1"})),
    case(
        Code.LAUNCH_BLOCKING,
        "set for the container",
        backend(container=container(environment={"ASCEND_LAUNCH_BLOCKING": "1"})),
    ),
)

QUIET: Final = (
    case(Code.SEQS_ABOVE_CAPTURE, "covered", backend()),
    case(
        Code.SEQS_ABOVE_CAPTURE,
        "eager",
        backend({"max_num_seqs": 8, "is_enforce_eager": True}),
    ),
    case(
        Code.SEQS_ABOVE_CAPTURE,
        "a model that does not generate",
        backend({"max_num_seqs": 8, "runner": "pooling"}),
    ),
    case(Code.SEQS_ABOVE_CAPTURE, "sizes not known", backend({"capture_sizes": None})),
    case(
        Code.SEQS_ABOVE_CAPTURE,
        "no limit given, which is told as that",
        backend({"max_num_seqs": None}),
    ),
    case(
        Code.SEQS_ABOVE_CAPTURE,
        "how much is speculated is not told",
        backend({"max_num_seqs": 8, "has_speculation": True}),
    ),
    case(
        Code.SEQS_NOT_GIVEN,
        "256 are covered",
        backend({"max_num_seqs": None, "capture_sizes": (128, 256)}),
    ),
    case(Code.SEQS_NOT_GIVEN, "given", backend({"max_num_seqs": 8})),
    case(Code.SEQS_NOT_GIVEN, "no command", backend(arguments=None, max_num_seqs=None)),
    case(Code.SEQS_OFF_GRID, "on the grid", backend({"max_num_seqs": 16, "capture_sizes": None})),
    case(Code.SEQS_OFF_GRID, "sizes given", backend({"max_num_seqs": 12})),
    case(
        Code.SEQS_OFF_GRID,
        "the list of old versions reaches further",
        backend({"max_num_seqs": 12, "capture_sizes": None}, version=(0, 17, 0)),
    ),
    case(
        Code.SEQS_OFF_GRID,
        "on the grid with speculation",
        backend(
            {
                "max_num_seqs": 12,
                "capture_sizes": None,
                "has_speculation": True,
                "speculative_tokens": 1,
            }
        ),
    ),
    case(
        Code.SEQS_OFF_GRID,
        "eager",
        backend({"max_num_seqs": 12, "capture_sizes": None, "is_enforce_eager": True}),
    ),
    case(Code.CAPTURE_UNREACHABLE, "all are reached", backend()),
    case(
        Code.CAPTURE_UNREACHABLE,
        "steps with prompts use them",
        backend({"capture_sizes": (4, 16), "cudagraph_mode": "FULL_AND_PIECEWISE"}),
    ),
    case(
        Code.CAPTURE_UNREACHABLE,
        "reached with speculation",
        backend({"capture_sizes": (4, 8), "has_speculation": True, "speculative_tokens": 1}),
    ),
    case(Code.CAPTURE_TOO_MANY, "two", backend()),
    case(
        Code.CAPTURE_TOO_MANY,
        "two, one of them twice",
        backend({"capture_sizes": (1, 4, 4)}),
    ),
    case(
        Code.CAPTURE_TOO_MANY,
        "one NPU",
        backend({"capture_sizes": FOUR, "max_num_seqs": 8} | TP1),
    ),
    case(
        Code.CAPTURE_TOO_MANY,
        "another chip",
        backend({"capture_sizes": FOUR, "max_num_seqs": 8}, **A2),
    ),
    case(
        Code.CAPTURE_TOO_MANY,
        "two requests have two sizes by default",
        backend({"capture_sizes": None, "max_num_seqs": 2}),
    ),
    case(
        Code.CAPTURE_OFF_STEP,
        "multiples",
        backend({"capture_sizes": (2, 8), "has_speculation": True, "speculative_tokens": 1}),
    ),
    case(Code.CAPTURE_OFF_STEP, "no speculation", backend()),
    case(Code.CAPTURE_MAX_DISAGREES, "the same", backend({"max_capture_size": 4})),
    case(
        Code.CAPTURE_MAX_DISAGREES,
        "without sizes",
        backend({"max_capture_size": 4, "capture_sizes": None}),
    ),
    case(
        Code.EAGER_BESIDE_GRAPH,
        "eager alone",
        backend({"is_enforce_eager": True, "cudagraph_mode": None, "capture_sizes": None}),
    ),
    case(
        Code.EAGER_BESIDE_GRAPH,
        "eager twice",
        backend({"is_enforce_eager": True, "cudagraph_mode": "NONE"}),
    ),
    case(Code.EAGER_BESIDE_GRAPH, "graphs", backend({"compilation_mode": "VLLM_COMPILE"})),
    case(
        Code.LAUNCH_BLOCKING,
        "eager",
        backend({"is_enforce_eager": True}, env={"ASCEND_LAUNCH_BLOCKING": "1"}),
    ),
    case(Code.LAUNCH_BLOCKING, "off", backend(env={"ASCEND_LAUNCH_BLOCKING": "0"})),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []


def test_sizes_too_small_for_one_request_are_told_once() -> None:
    told = {"capture_sizes": (1, 2), "has_speculation": True, "speculative_tokens": 3}
    one = backend(told)
    assert found_in(case(Code.SEQS_ABOVE_CAPTURE, "", one)) == []
    assert len(found_in(case(Code.CAPTURE_OFF_STEP, "", one))) == 1

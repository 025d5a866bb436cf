from typing import Any

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.engine.arguments import EngineArguments
from tests.unit.adoption.engine.conftest import Read


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("-O3", {"optimization_level": 3}),
        ("-O=2", {"optimization_level": 2}),
        ("-O 0", {"optimization_level": 0}),
        ("--optimization-level 1", {"optimization_level": 1}),
        ("""-cc '{"cudagraph_mode": "full"}'""",
         {"has_compilation_config": True, "cudagraph_mode": "FULL"}),
        ("""-cc '{"cudagraph_mode": 1, "mode": 3}'""",
         {"has_compilation_config": True, "cudagraph_mode": "PIECEWISE",
          "compilation_mode": "VLLM_COMPILE"}),
        ("""-cc '{"cudagraph_mode": null}'""", {"has_compilation_config": True}),
        ("""-cc '{"level": 0, "use_cudagraph": false}'""",
         {"has_compilation_config": True, "compilation_mode": "NONE", "cudagraph_mode": "NONE"}),
        ("""-cc '{"full_cuda_graph": true}'""",
         {"has_compilation_config": True, "cudagraph_mode": "FULL"}),
        ("""-cc '{"cudagraph_capture_sizes": [8, 1, 4, 4],\n "max_cudagraph_capture_size": 8}'""",
         {"has_compilation_config": True, "capture_sizes": (1, 4, 8), "max_capture_size": 8}),
        ("""-cc '{"cudagraph_capture_sizes": []}'""",
         {"has_compilation_config": True, "capture_sizes": ()}),
        ("--compilation-config.cudagraph_mode FULL --compilation_config.mode 0",
         {"has_compilation_config": True, "cudagraph_mode": "FULL", "compilation_mode": "NONE"}),
        ("-cc.cudagraph_mode FULL_DECODE_ONLY -cc.cudagraph_capture_sizes '[1,4]'",
         {"has_compilation_config": True, "cudagraph_mode": "FULL_DECODE_ONLY",
          "capture_sizes": (1, 4)}),
        ("-cc.cudagraph_capture_sizes+ 1 -cc.cudagraph_capture_sizes+=4,8 -cc.mode=none",
         {"has_compilation_config": True, "capture_sizes": (1, 4, 8), "compilation_mode": "NONE"}),
        ("--cudagraph-capture-sizes 1 2 4", {"capture_sizes": (1, 2, 4)}),
        ("--cudagraph_capture_sizes 4 --max-cudagraph-capture-size=4",
         {"capture_sizes": (4,), "max_capture_size": 4}),
        ("--enforce-eager", {"is_enforce_eager": True}),
    ],
)  # fmt: skip
def test_spellings(read: Read, words: str, fields: dict[str, Any]) -> None:
    arguments, findings = read(f"vllm serve m {words}")
    assert findings == ()
    assert arguments == EngineArguments(model="m", **fields)


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        ("--cuda-graph-sizes 24", (1, 2, 4, 8, 16, 24)),
        ("--cuda-graph-sizes 20", (1, 2, 4, 8, 16)),
        ("--cuda-graph-sizes 8 2", (2, 8)),
    ],
)
def test_the_sizes_option_of_old(read: Read, words: str, sizes: tuple[int, ...]) -> None:
    arguments, findings = read(f"vllm serve m {words}")
    assert arguments.capture_sizes == sizes
    assert [finding.code for finding in findings] == [Code.OPTION_ENDED]


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("""-O '{"mode": 3}'""", {"compilation_mode": "VLLM_COMPILE"}),
        ("""-O='{"mode": 3}'""", {"compilation_mode": "VLLM_COMPILE"}),
        ("-O.mode=3", {"compilation_mode": "VLLM_COMPILE"}),
        ("-O.cudagraph_mode NONE", {"cudagraph_mode": "NONE"}),
    ],
)
def test_the_letter_for_the_config_of_old(read: Read, words: str, fields: dict[str, Any]) -> None:
    arguments, findings = read(f"vllm serve m {words}")
    assert arguments == EngineArguments(model="m", has_compilation_config=True, **fields)
    assert [(finding.code, finding.values["option"]) for finding in findings] == [
        (Code.OPTION_ENDED, "-O (--compilation-config)")
    ]


@pytest.mark.parametrize(
    "words",
    [
        """-cc "{'cudagraph_mode': 'FULL_DECODE_ONLY', 'cudagraph_capture_sizes': [1, 4]}" """,
        r"""-cc '{\"cudagraph_mode\": \"FULL_DECODE_ONLY\", \"cudagraph_capture_sizes\": [1,4]}'""",
        """-cc='"{"cudagraph_mode": "FULL_DECODE_ONLY", "cudagraph_capture_sizes": [4, 1]}"'""",
        "-cc {cudagraph_mode: FULL_DECODE_ONLY, cudagraph_capture_sizes: [1,4]}",
        "-cc {cudagraph_mode: FULL_DECODE_ONLY, cudagraph_capture_sizes: [1, 4]} --port 8000",
    ],
)
def test_sloppy_json_is_told_and_read_as_meant(read: Read, words: str) -> None:
    arguments, findings = read(f"vllm serve m {words}")
    assert arguments.cudagraph_mode == "FULL_DECODE_ONLY"
    assert arguments.capture_sizes == (1, 4)
    assert [finding.code for finding in findings] == [Code.VALUE_UNREADABLE]
    assert findings[0].values["option"] == "--compilation-config"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("-O4", "--optimization-level"),
        ("-Odecode", "--optimization-level"),
        ("-cc x", "--compilation-config"),
        ("-cc '[1]'", "--compilation-config"),
        ("""-cc '{"cudagraph_mode": "FASTER"}'""", "--compilation-config.cudagraph_mode"),
        ("""-cc '{"cudagraph_mode": [2, 0]}'""", "--compilation-config.cudagraph_mode"),
        ("""-cc '{"mode": 9}'""", "--compilation-config.mode"),
        ("""-cc '{"mode": true}'""", "--compilation-config.mode"),
        ("""-cc '{"cudagraph_capture_sizes": [1, "x"]}'""",
         "--compilation-config.cudagraph_capture_sizes"),
        ("""-cc '{"cudagraph_capture_sizes": 8}'""",
         "--compilation-config.cudagraph_capture_sizes"),
        ("""-cc '{"max_cudagraph_capture_size": -1}'""",
         "--compilation-config.max_cudagraph_capture_size"),
        ("--cudagraph-capture-sizes 1,2,4", "--cudagraph-capture-sizes"),
    ],
)  # fmt: skip
def test_values_without_meaning(read: Read, words: str, option: str) -> None:
    _, findings = read(f"vllm serve m {words}")
    assert [(finding.code, finding.values["option"]) for finding in findings] == [
        (Code.VALUE_UNREADABLE, option)
    ]


def test_single_fields_replace_the_json(read: Read) -> None:
    arguments, findings = read(
        "vllm serve m --compilation-config.cudagraph_mode NONE "
        """-cc '{"cudagraph_capture_sizes": [1]}'"""
    )
    assert (arguments.cudagraph_mode, arguments.capture_sizes) == ("NONE", None)
    assert [dict(finding.values) for finding in findings] == [
        {"option": "--compilation-config", "value": '{"cudagraph_mode": "NONE"}'}
    ]


def test_sizes_by_option_and_by_json_exclude_each_other(read: Read) -> None:
    arguments, findings = read(
        """vllm serve m -cc '{"cudagraph_capture_sizes": [1]}' --cudagraph-capture-sizes 1 8"""
    )
    assert arguments.capture_sizes == (1, 8)
    assert [finding.code for finding in findings] == [Code.OPTION_TWICE]


def test_a_size_beyond_reason_is_not_spelled_out(read: Read) -> None:
    arguments, _ = read("vllm serve m --cuda-graph-sizes 999999999999")
    assert arguments.capture_sizes is None

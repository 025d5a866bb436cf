"""Whatever is set, however it is written, is read back; whatever else is there, no error."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.engine.arguments import EngineArguments, read_arguments
from gateway.adoption.engine.config_file import read_config_file
from gateway.adoption.engine.option_names import ALIASES
from gateway.adoption.findings import Origin
from gateway.adoption.sources import Launch

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

COUNTS = {
    "port": "port",
    "max_num_seqs": "max-num-seqs",
    "tensor_parallel": "tensor-parallel-size",
    "pipeline_parallel": "pipeline-parallel-size",
    "data_parallel": "data-parallel-size",
    "max_model_len": "max-model-len",
    "max_num_batched_tokens": "max-num-batched-tokens",
    "block_size": "block-size",
    "max_capture_size": "max-cudagraph-capture-size",
}
TEXTS = {
    "host": "host",
    "uds": "uds",
    "dtype": "dtype",
    "quantization": "quantization",
    "load_format": "load-format",
    "mamba_cache_mode": "mamba-cache-mode",
    "reasoning_parser": "reasoning-parser",
    "allowed_local_media_path": "allowed-local-media-path",
    "kv_cache_dtype": "kv-cache-dtype",
}
FLAGS = {
    "has_prefix_caching": "enable-prefix-caching",
    "has_chunked_prefill": "enable-chunked-prefill",
    "is_enforce_eager": "enforce-eager",
    "has_auto_tool_choice": "enable-auto-tool-choice",
}

words = st.text("abcXYZ019./:_-é中", min_size=1, max_size=12).filter(
    lambda text: not text.startswith("-") and text != "None"
)
sizes = st.sets(st.integers(1, 512), min_size=1, max_size=5).map(lambda some: tuple(sorted(some)))
modes = st.sampled_from(["NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE"])


@st.composite
def settings_of_an_engine(draw: st.DrawFn) -> dict[str, Any]:
    numbers = draw(st.dictionaries(st.sampled_from(sorted(COUNTS)), st.integers(1, 65_535)))
    texts = draw(st.dictionaries(st.sampled_from(sorted(TEXTS)), words))
    flags = draw(st.dictionaries(st.sampled_from(sorted(FLAGS)), st.booleans()))
    names = draw(st.lists(words.filter(lambda text: "," not in text), max_size=3))
    return {**numbers, **texts, **flags, "served_names": tuple(names)}


@st.composite
def spelled(draw: st.DrawFn, option: str, value: str) -> list[str]:
    short = [alias for alias, name in ALIASES.items() if name == option]
    name = draw(st.sampled_from([f"--{option}", f"--{option.replace('-', '_')}", *short]))
    return [f"{name}={value}"] if draw(st.booleans()) else [name, value]


@st.composite
def compilation(draw: st.DrawFn, mode: str, captured: tuple[int, ...]) -> list[str]:
    fields = {"cudagraph_mode": mode, "cudagraph_capture_sizes": list(captured)}
    if draw(st.booleans()):
        indent = draw(st.sampled_from([None, 1]))
        return draw(spelled("compilation-config", json.dumps(fields, indent=indent)))
    prefix = draw(st.sampled_from(["-cc", "--compilation-config", "--compilation_config"]))
    if draw(st.booleans()):
        listed = [f"{prefix}.cudagraph_capture_sizes={json.dumps(captured)}"]
    else:
        listed = [w for n in captured for w in (f"{prefix}.cudagraph_capture_sizes+", str(n))]
    return [f"{prefix}.cudagraph_mode", mode, *listed]


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[list[str], EngineArguments]:
    chosen = draw(settings_of_an_engine())
    mode, captured = draw(modes), draw(sizes)
    groups = [draw(compilation(mode, captured))]
    for field, value in chosen.items():
        if field in COUNTS:
            groups.append(draw(spelled(COUNTS[field], str(value))))
        elif field in TEXTS:
            groups.append(draw(spelled(TEXTS[field], value)))
        elif field in FLAGS:
            groups.append([f"--{FLAGS[field]}" if value else f"--no-{FLAGS[field]}"])
        elif value:
            groups.append(["--served-model-name", *value])
    ordered = draw(st.permutations(groups))
    line = ["vllm", "serve", "/m", *(word for group in ordered for word in group)]
    wanted = EngineArguments(
        model="/m",
        has_compilation_config=True,
        cudagraph_mode=mode,
        capture_sizes=captured,
        **chosen,
    )
    return line, wanted


@UNHURRIED
@given(command_lines())
def test_what_is_written_is_read(case: tuple[list[str], EngineArguments]) -> None:
    line, wanted = case
    assert read_arguments(Launch(Origin("x"), tuple(line))) == (wanted, ())


@UNHURRIED
@given(settings_of_an_engine())
def test_a_file_says_the_same_as_the_command_line(chosen: dict[str, Any]) -> None:
    # A file can't switch off what is on by itself: false gives no word at all.
    flags = {FLAGS[field]: True for field, value in chosen.items() if field in FLAGS and value}
    others: Mapping[str, str] = {**COUNTS, **TEXTS, "served_names": "served-model-name"}
    tree = {
        others[f]: list(v) if f == "served_names" else v for f, v in chosen.items() if f in others
    }
    given_words, findings = read_config_file(json.dumps({**tree, **flags}), "c.yaml")
    assert findings == ()
    launch = Launch(Origin("x"), ("vllm", "serve", "/m", "--config", "c.yaml"))
    fields = {f: v for f, v in chosen.items() if f not in FLAGS or v}
    assert read_arguments(launch, given_words) == (
        EngineArguments(model="/m", config_file="c.yaml", **fields),
        (),
    )


PIECES = """
-- - -O -O3 -O.x -cc -tp -1 --port= --config = k=v { } [ ' " \\ --a.b.c+ --additional-config.a
--compilation-config --api-key --limit-mm-per-prompt --lora-modules --no-enable-lora
--served-model-name --cudagraph-capture-sizes --speculative-config {"a":[1,{"b":null}]}
"""
pieces = st.text(max_size=20) | st.sampled_from(PIECES.split())


@UNHURRIED
@given(st.lists(pieces, max_size=12), st.lists(pieces, max_size=4))
def test_no_words_raise(line: list[str], config: list[str]) -> None:
    for start in (("vllm", "serve"), ("python", "-m", "vllm.entrypoints.openai.api_server"), ()):
        arguments, findings = read_arguments(Launch(Origin("x"), (*start, *line)), tuple(config))
        assert isinstance(arguments, EngineArguments)
        assert all(len(text) <= 100 for one in findings for text in one.values.values())


@UNHURRIED
@given(st.text(max_size=60))
def test_no_file_raises(text: str) -> None:
    given_words, _ = read_config_file(text, "c.yaml")
    read_arguments(Launch(Origin("x"), ("vllm", "serve")), given_words)

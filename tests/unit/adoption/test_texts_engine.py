"""Every finding about a command line or a log is told in both languages, with all its values."""

import string

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.engine.arguments import read_arguments
from gateway.adoption.engine.config_file import read_config_file
from gateway.adoption.engine.log import read_log
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Launch
from gateway.adoption.texts_engine import ENGINE
from gateway.words import Words

LINES = (
    "vllm serve a b --port x --port 1 --frob --swap-space 1 --enable-lora true --dtype",
    "vllm serve a --served-model-name a,b --config=c.yaml --max-num-seqs x",
    "vllm serve",
    "python -m vllm.entrypoints.openai.api_server m",
)
LOG = """\
INFO [a.py:1] vLLM API server version 1
INFO [a.py:1] vLLM API server version 1
WARNING [a.py:1] CUDAGraphMode.FULL is not supported; setting cudagraph_mode=PIECEWISE
INFO [a.py:1] Adjusted ACL graph batch sizes for X model (layers: 28): 67 → 11 sizes
"""
LOGS = (
    LOG,
    f"{LOG}ERROR [a.py:1] ACL graph capture failed\nERROR [a.py:1] EngineCore failed to start.",
)


def every_finding() -> list[Finding]:
    launches = [Launch(Origin("x"), tuple(line.split())) for line in LINES]
    return [
        *(finding for launch in launches for finding in read_arguments(launch)[1]),
        *(finding for text in LOGS for finding in read_log(text, "x.log")[1]),
        *read_config_file("[", "c.yaml")[1],
    ]


def fields_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_code_of_command_lines_and_logs_occurs() -> None:
    assert {finding.code for finding in every_finding()} == set(ENGINE)


@pytest.mark.parametrize("finding", every_finding(), ids=lambda finding: finding.code)
def test_the_values_fill_the_text(finding: Finding) -> None:
    text = ENGINE[finding.code]
    for words in (text.message, text.remedy):
        for spoken in words:
            assert fields_of(spoken) <= set(finding.values)
    assert fields_of("".join(text.message)) >= set(finding.values)


@pytest.mark.parametrize("code", list(ENGINE))
def test_both_languages_say_the_same_values(code: Code) -> None:
    text = ENGINE[code]
    both: tuple[Words, Words] = (text.message, text.remedy)
    for words in both:
        assert fields_of(words.en) == fields_of(words.zh)
        assert words.en != words.zh

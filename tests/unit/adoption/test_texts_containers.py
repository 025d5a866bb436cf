"""Every finding about containers and manifests is told in both languages, with all its values."""

import string

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.reading import read_source
from gateway.adoption.texts_containers import CONTAINERS
from gateway.words import Words

COMPOSE = """\
include: more.yaml
services:
  s:
    image: vllm
    image: vllm
    env_file: .env
    profiles: [big]
    scale: 2
    ports: [x]
    devices: ["/dev/davinci*"]
    command: vllm serve /m \\ --port 1
"""
CLUSTER = """\
kind: Pod
metadata: {labels: {a: b}}
spec: {containers: [{image: vllm, args: [--model, /m], ports: [{containerPort: 1}]}]}
---
kind: Service
metadata: {name: s}
spec: {type: NodePort, selector: {a: b}, ports: [{port: 1, nodePort: 30001}]}
---
kind: [
"""
SOURCES = (
    ("", "empty"),
    ("\0", "binary"),
    (COMPOSE, "compose.yaml"),
    (CLUSTER, "k.yaml"),
    ("a: &a [*a]", "loop.yaml"),
    ("kind: {{ x }}", "chart.yaml"),
    ("docker run --what vllm", "run.sh"),
    ("[Service]\nExecStart=vllm serve /m%i", "v@.service"),
)


def every_finding() -> list[Finding]:
    found = [f for text, file in SOURCES for f in read_source(text, file).findings]
    return [finding for finding in found if finding.code in CONTAINERS]


def test_every_code_has_a_source_that_brings_it_about() -> None:
    assert {finding.code for finding in every_finding()} == set(CONTAINERS)


@pytest.mark.parametrize("finding", every_finding(), ids=lambda finding: str(finding.code))
def test_every_finding_is_told_in_both_languages(finding: Finding) -> None:
    text = CONTAINERS[finding.code]
    for words in (text.message, text.remedy):
        for written in words:
            assert written.format(**finding.values)


def names(written: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(written) if name}


@pytest.mark.parametrize("code", CONTAINERS)
def test_both_languages_tell_the_same(code: Code) -> None:
    text = CONTAINERS[code]
    for words in (text.message, text.remedy):
        assert isinstance(words, Words)
        assert names(words.en) == names(words.zh)

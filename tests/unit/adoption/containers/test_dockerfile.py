import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.containers.dockerfile import (
    instructions,
    looks_like_dockerfile,
    read_dockerfile,
)
from gateway.adoption.findings import Origin
from gateway.adoption.sources import Container, PortMap, Sighting

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SERVE = ("vllm", "serve", "/m", "--port", "80")


def seen(text: str) -> Sighting:
    return read_dockerfile(text, "Dockerfile")


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ('CMD ["vllm", "serve", "/m", "--port", "80"]', 2),
        ("CMD vllm serve /m --port 80", 2),
        ("cmd vllm serve /m \\\n  # comment\n  --port 80", 2),
        ('ENTRYPOINT ["vllm", "serve"]\nCMD ["/m", "--port", "80"]', 3),
        ('ENTRYPOINT ["bash", "-c"]\nCMD ["vllm serve /m --port 80"]', 3),
        ("ENTRYPOINT vllm serve /m --port 80", 2),
        ("CMD old\nCMD vllm serve /m --port 80", 3),
        ("ENV P=80\nCMD vllm serve /m --port $P", 3),
        ("ENV P 80\nCMD vllm serve /m --port ${P}", 3),
        ("ARG P=80\nENV Q=$P\nCMD vllm serve /m --port $Q", 4),
        ("FROM scratch AS other\nCMD x\nFROM base\nCMD vllm serve /m --port 80", 5),
        ("RUN <<EOF\nCMD other\nEOF\nCMD vllm serve /m --port 80", 5),
        ("HEALTHCHECK CMD curl localhost\nCMD vllm serve /m --port 80", 3),
        ('CMD ["vllm serve /m --port 80"', None),
        ("CMD bash", None),
        ("", None),
    ],
)
def test_what_an_image_starts(lines: str, line: int | None) -> None:
    sighting = seen(f"FROM vllm-ascend:v1\n{lines}\n")
    if line is None:
        assert sighting.launches == ()
        assert sighting.containers == ()
        return
    (launch,) = sighting.launches
    assert launch.argv == SERVE
    assert launch.origin == Origin("Dockerfile", line)


def test_variables_ports_and_stages() -> None:
    text = (
        "ARG TAG=v1\nFROM quay.io/ascend/vllm-ascend:${TAG} AS base\n"
        'ENV A=b C="d e" \\\n  F=${A}x\nEXPOSE 8000 9000/tcp 53/udp $PORT\n'
        'ENTRYPOINT ["vllm", "serve"]\n'
        'FROM base\nENV A=z\nCMD ["/m"]\n'
    )
    sighting = seen(text)
    (container,) = sighting.containers
    assert container == Container(
        Origin("Dockerfile", 9),
        "",
        "quay.io/ascend/vllm-ascend:v1",
        environment={"A": "z", "C": "d e", "F": "x"},
        ports=(PortMap(None, 8000), PortMap(None, 9000)),
        argv=("vllm", "serve", "/m"),
    )
    assert sighting.launches[0].container is container


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM a", True),
        ("# syntax=docker/dockerfile:1\n\nARG T=1\nFROM a:$T", True),
        ("from a\nrun b", True),
        ("ARG T=1\nRUN x", False),
        ("RUN x\nFROM a", False),
        ("vllm serve m", False),
        ("", False),
    ],
)
def test_what_a_dockerfile_is(text: str, expected: bool) -> None:
    assert looks_like_dockerfile(text) is expected


def test_here_documents_and_comments_are_no_instructions() -> None:
    text = "FROM a\nCOPY <<A <<-'B' /x/\nRUN 1\nA\nRUN 2\n  B\n# RUN 3\nRUN a \\\n\n  b\n"
    found = [(one.word, one.line) for one in instructions(text)]
    assert found == [("FROM", 1), ("COPY", 2), ("RUN", 8)]


@UNHURRIED
@given(st.text(alphabet='FROMCDENV ["],=$\\\n#<x', max_size=80))
def test_any_text_is_read(text: str) -> None:
    looks_like_dockerfile(text)
    seen("FROM a\n" + text)

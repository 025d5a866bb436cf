from textwrap import dedent
from typing import Any

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.containers.systemd import read_service
from gateway.adoption.containers.unit_file import read_unit
from gateway.adoption.containers.unit_values import unit_name
from gateway.adoption.findings import Origin
from gateway.adoption.sources import PortMap, Sighting


def seen(lines: str, file: str = "vllm.service") -> Sighting:
    return read_service(read_unit("[Service]\n" + dedent(lines)), file)


SERVE = ("vllm", "serve", "/m", "--port", "80")


@pytest.mark.parametrize(
    "lines",
    [
        "ExecStart=vllm serve /m --port 80",
        "ExecStart=-vllm serve /m --port 80",
        "ExecStart=+vllm serve /m --port 80",
        "ExecStart=!!vllm serve /m --port 80",
        "ExecStart=@vllm name serve /m --port 80",
        "ExecStart=-@vllm name serve /m --port 80",
        "ExecStart = vllm serve \\\n  /m \\\n  --port 80",
        "ExecStart=/bin/bash -c 'exec vllm serve /m --port 80'",
        "ExecStart=/bin/bash -lc 'source x/set_env.sh && vllm serve /m --port 80'",
        "ExecStart=/usr/bin/env A=1 vllm serve /m --port 80",
        "ExecStart=/usr/bin/numactl -N 0 vllm serve /m --port 80",
        "Environment=P=80\nExecStart=vllm serve /m --port $P",
        "Environment=P=80 M=/m\nExecStart=vllm serve ${M} --port ${P}",
        "Environment='REST=--port 80'\nExecStart=vllm serve /m $REST",
        'Environment="P=80"\nExecStart=/bin/sh -c "vllm serve /m --port $P"',
        'Environment="P=80"\nExecStart=/bin/sh -c "vllm serve /m --port $$P"',
        "ExecStart=/bin/true ; vllm serve /m --port 80",
        "ExecStart=old\nExecStart=\nExecStart=vllm serve /m --port 80",
        "ExecStartPre=vllm serve /other\nExecStart=vllm serve /m --port 80",
    ],
)
def test_commands(lines: str) -> None:
    sighting = seen(lines)
    assert [launch.argv for launch in sighting.launches] == [SERVE]
    assert sighting.findings == ()


def test_a_colon_keeps_dollars() -> None:
    (launch,) = seen("ExecStart=:vllm serve ${M} $N").launches
    assert launch.argv == ("vllm", "serve", "${M}", "$N")


def test_the_variables_lines_and_logs_of_the_unit() -> None:
    sighting = seen("""\
        Environment="A=b c" D=e
        Environment=ASCEND_RT_VISIBLE_DEVICES=0,1
        User=ai
        StandardOutput=append:/var/log/%n.log
        StandardError=inherit
        Restart=always
        ExecStart=vllm serve /m
        ExecStart=vllm serve /n --compilation-config '{"cudagraph_mode": "FULL"}'
        """)
    first, second = sighting.launches
    assert first.environment == {"A": "b c", "D": "e", "ASCEND_RT_VISIBLE_DEVICES": "0,1"}
    assert first.log_files == ("/var/log/vllm.service.log",)
    assert first.origin == Origin("vllm.service", 8)
    assert second.argv[-1] == '{"cudagraph_mode": "FULL"}'
    assert second.origin == Origin("vllm.service", 9)


def test_docker_run_in_a_unit() -> None:
    sighting = seen(
        """\
        ExecStartPre=-/usr/bin/docker rm -f %p
        ExecStart=/usr/bin/docker run --rm --name %p --device /dev/davinci%i -p 80%i:8000 \\
          vllm-ascend:v1 vllm serve /m
        """,
        "/etc/systemd/system/vllm@3.service",
    )
    (container,), (launch,) = sighting.containers, sighting.launches
    assert (container.name, container.npus) == ("vllm", (3,))
    assert container.ports == (PortMap(803, 8000),)
    assert launch.container is container


@pytest.mark.parametrize(
    ("lines", "code", "values"),
    [
        (
            "EnvironmentFile=-/etc/v\nExecStart=vllm serve /m",
            Code.ENV_FILE_UNREAD,
            {"container": "vllm@.service", "source": "/etc/v"},
        ),
        (
            "ExecStart=vllm serve /m --port 80%i",
            Code.UNIT_SPECIFIER,
            {"specifier": "%i", "unit": "vllm@.service"},
        ),
        (
            "Environment=A=%I\nExecStart=vllm serve /m",
            Code.UNIT_SPECIFIER,
            {"specifier": "%I", "unit": "vllm@.service"},
        ),
        ("ExecStart=vllm serve ${M}", Code.VARIABLE_UNSET, {"variable": "M"}),
        ("ExecStart=vllm serve $M", Code.VARIABLE_UNSET, {"variable": "M"}),
        ("ExecStart=vllm serve '/m", Code.QUOTE_UNCLOSED, {"quote": "'"}),
        ("ExecStart=/opt/start.sh", Code.SHELL_NOT_FOLLOWED, {"what": "/opt/start.sh"}),
    ],
)
def test_what_is_noticed(lines: str, code: Code, values: dict[str, Any]) -> None:
    (finding,) = seen(lines, "vllm@.service").findings
    assert (finding.code, dict(finding.values)) == (code, values)


def test_other_services_are_quiet() -> None:
    assert seen("EnvironmentFile=/etc/x\nExecStart=/usr/sbin/nginx -g '%i ${X}") == Sighting()


@pytest.mark.parametrize(
    ("file", "full", "prefix", "instance"),
    [
        ("vllm.service", "vllm.service", "vllm", ""),
        ("a/b/vllm@2.service", "vllm@2.service", "vllm", "2"),
        ("vllm@.service", "vllm@.service", "vllm", ""),
        ("qwen.container", "qwen.container", "qwen", ""),
        ("vllm.service.d.conf", "vllm.service", "vllm", ""),
        ("notes", "notes.service", "notes", ""),
    ],
)
def test_unit_names(file: str, full: str, prefix: str, instance: str) -> None:
    name = unit_name(file)
    assert (name.full, name.prefix, name.instance) == (full, prefix, instance)


def test_specifiers() -> None:
    name = unit_name("vllm@9b.service")
    assert name.filled("%n %N %p %i %I %% %h %L %H") == (
        "vllm@9b.service vllm@9b vllm 9b 9b % /root /var/log %H",
        (),
    )
    assert unit_name("v@.service").filled("%i-%i %I") == ("%i-%i %I", ("%i", "%I"))

from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.codes import Code
from gateway.adoption.containers.quadlet import read_quadlet
from gateway.adoption.containers.unit_file import read_unit
from gateway.adoption.findings import Origin
from gateway.adoption.sources import Container, Mount, PortMap, Sighting

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def seen(lines: str, file: str = "qwen.container") -> Sighting:
    return read_quadlet(read_unit("[Container]\n" + dedent(lines)), file)


FULL = """\
Image=quay.io/ascend/vllm-ascend:v1
ContainerName=qwen-9b
AddDevice=/dev/davinci0
AddDevice=-/dev/davinci1:/dev/davinci1:rwm
PublishPort=12320:8000
PublishPort=[::1]:81:81
Environment=ASCEND_RT_VISIBLE_DEVICES=0,1 "A=b c"
Volume=/data:/models:ro
Mount=type=bind,source=/a,destination=/b
PodmanArgs=--shm-size=1g -p 99:99
Exec=vllm serve /m \\
  --served-model-name 'a b'
"""


def test_a_container_unit() -> None:
    sighting = seen(FULL)
    (container,) = sighting.containers
    assert container == Container(
        Origin("qwen.container", 2),
        "qwen-9b",
        "quay.io/ascend/vllm-ascend:v1",
        npus=(0, 1),
        environment={"ASCEND_RT_VISIBLE_DEVICES": "0,1", "A": "b c"},
        ports=(PortMap(12320, 8000), PortMap(81, 81, "::1"), PortMap(99, 99)),
        mounts=(Mount("/data", "/models"), Mount("/a", "/b")),
        argv=("vllm", "serve", "/m", "--served-model-name", "a b"),
    )
    (launch,) = sighting.launches
    assert launch.origin == Origin("qwen.container", 12)
    assert launch.container is container
    assert sighting.findings == ()


@pytest.mark.parametrize(
    ("lines", "name", "is_host", "npus"),
    [
        ("Image=vllm\nNetwork=host", "systemd-qwen", True, ()),
        ("Image=vllm\nNetwork=my.network\nPodmanArgs=--privileged", "systemd-qwen", False, None),
        ("Image=vllm\nContainerName=%p-1\nEntrypoint=/bin/sh", "qwen-1", False, ()),
    ],
)
def test_names_and_networks(
    lines: str, name: str, is_host: bool, npus: tuple[int, ...] | None
) -> None:
    (container,) = seen(lines).containers
    assert (container.name, container.is_host_network, container.npus) == (name, is_host, npus)


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("EnvironmentFile=x", Code.ENV_FILE_UNREAD),
        ("AddDevice=/dev/davinci%i", Code.UNIT_SPECIFIER),
        ("PublishPort=x", Code.PORT_UNREADABLE),
        ("PodmanArgs=--what", Code.CONTAINER_OPTION_UNKNOWN),
        ("Exec=vllm serve 'm", Code.QUOTE_UNCLOSED),
    ],
)
def test_what_is_noticed(lines: str, code: Code) -> None:
    found = [finding.code for finding in seen(f"Image=vllm\n{lines}", "v@.container").findings]
    assert code in found
    assert seen(f"Image=redis\n{lines.replace('vllm', 'x')}", "v@.container").findings == ()


def test_a_unit_without_an_image_is_no_container() -> None:
    assert seen("ContainerName=x") == Sighting()


@UNHURRIED
@given(st.text(alphabet="Image=xExec\n'\"%i\\ -P", max_size=60))
def test_any_unit_is_read(text: str) -> None:
    seen(text)

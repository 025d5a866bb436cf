from textwrap import dedent, indent
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.codes import Code
from gateway.adoption.containers.compose import read_compose
from gateway.adoption.containers.compose_services import is_compose
from gateway.adoption.containers.manifest import Document, Tree, read_documents
from gateway.adoption.findings import Origin
from gateway.adoption.sources import Container, Mount, PortMap, Sighting

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def seen(text: str) -> Sighting:
    documents, errors = read_documents(dedent(text))
    assert errors == ()
    return read_compose(documents, "compose.yaml")


def service(fields: str) -> Sighting:
    return seen("services:\n  s:\n    image: vllm\n" + indent(dedent(fields), "    "))


def words(text: str) -> list[str]:
    return text.split()


RESERVED = "deploy: {resources: {reservations: {devices: [{%s}]}}}"


def container(fields: str) -> Container:
    return service(fields).containers[0]


def codes(sighting: Sighting) -> list[Code]:
    return [finding.code for finding in sighting.findings]


SERVE = ("vllm", "serve", "/m", "--port", "8000")


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ("command: vllm serve /m --port 8000", 4),
        ("command: >\n  vllm serve /m\n  --port 8000\n", 5),
        ("command: >-\n  vllm serve /m\n    --port 8000", 5),
        ("command: |\n  vllm serve /m\n  --port 8000\n", 5),
        ("command: [vllm, serve, /m, --port, 8000]", 4),
        ('command:\n- "vllm"\n- serve\n- /m\n- --port\n- "8000"', 4),
        ("command: bash -c 'vllm serve /m --port 8000'", 4),
        ('command: bash -c "exec vllm serve /m --port 8000"', 4),
        ("command: [bash, -c, vllm serve /m --port 8000]", 4),
        ("command:\n- sh\n- -c\n- |\n  export A=1\n  vllm serve /m --port 8000\n", 9),
        ("entrypoint: vllm serve\ncommand: /m --port 8000", 5),
        ("entrypoint: [vllm, serve]\ncommand: [/m, --port, 8000]", 5),
        ("entrypoint: [bash, -c]\ncommand: vllm serve /m --port 8000", None),
        ("entrypoint: vllm serve /m --port 8000", 4),
    ],
)
def test_commands(fields: str, line: int | None) -> None:
    sighting = service(fields)
    if line is None:
        # The text is split into words, of which bash only reads the first.
        assert sighting.launches == ()
        return
    (launch,) = sighting.launches
    assert launch.argv == SERVE
    assert launch.origin == Origin("compose.yaml", line)
    assert launch.container is sighting.containers[0]
    assert sighting.findings == ()


def test_dollars_for_the_shell_within() -> None:
    sighting = service("environment: {P: 8000}\ncommand: bash -c 'vllm serve /m --port $$P'")
    assert sighting.launches[0].argv == SERVE


@pytest.mark.parametrize(
    ("fields", "environment"),
    [
        (
            "environment: {A: b, N: 1, T: true, F: 0.5, EMPTY: '', NONE: }",
            {"A": "b", "N": "1", "T": "true", "F": "0.5", "EMPTY": ""},
        ),
        ("environment: [A=b, C=d=e, NONE, EMPTY=]", {"A": "b", "C": "d=e", "EMPTY": ""}),
        ("environment: ['A=\"0,1\"']", {"A": '"0,1"'}),
        ("environment: {A: '${B:-x}', C: '$$D', E: '${UNKNOWN}'}", {"A": "x", "C": "$D"}),
        ("environment: ['A=${B:-x}', 'E=$UNKNOWN']", {"A": "x"}),
        ("environment: nonsense", {}),
        ("environment: 5", {}),
    ],
)
def test_environment(fields: str, environment: dict[str, str]) -> None:
    assert container(fields).environment == environment


@pytest.mark.parametrize(
    ("ports", "found"),
    [
        ('["12320:8000"]', [(12320, 8000, "")]),
        ("[12320:8000, 22:22]", [(12320, 8000, ""), (22, 22, "")]),
        ("[8000]", [(None, 8000, "")]),
        ('["127.0.0.1:8001:8000/tcp", "53:53/udp"]', [(8001, 8000, "127.0.0.1")]),
        ('["8000-8001:9000-9001"]', [(8000, 9000, ""), (8001, 9001, "")]),
        ("[{target: 8000, published: 12320}]", [(12320, 8000, "")]),
        (
            '[{target: 8000, published: "12320", host_ip: 127.0.0.1, protocol: tcp, mode: host}]',
            [(12320, 8000, "127.0.0.1")],
        ),
        ("[{target: 8000}]", [(None, 8000, "")]),
        ('[{target: 80, published: "8000-8010"}]', [(None, 80, "")]),
        ('["${PORT:-12320}:8000"]', [(12320, 8000, "")]),
        ("[null]", []),
        ("8000", []),
    ],
)
def test_ports(ports: str, found: list[tuple[int | None, int, str]]) -> None:
    assert container(f"ports: {ports}").ports == tuple(PortMap(*port) for port in found)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("devices: [/dev/davinci0, '/dev/davinci1:/dev/x:rwm', /dev/hisi_hdc]", {"npus": (0, 1)}),
        ("devices: [{source: /dev/davinci2, target: /dev/davinci0}]", {"npus": (2,)}),
        ("devices: [huawei.com/npu=3]", {"npus": (3,)}),
        ("privileged: true", {"npus": None}),
        ("runtime: ascend\nenvironment: {ASCEND_VISIBLE_DEVICES: 0-1}", {"npus": (0, 1)}),
        (RESERVED % "driver: cdi, device_ids: [huawei.com/npu=1]", {"npus": (1,)}),
        (RESERVED % 'driver: ascend, device_ids: ["0", "1"]', {"npus": (0, 1)}),
        (RESERVED % "capabilities: [npu], count: 2", {"npus": (), "npus_wanted": 2}),
        (RESERVED % "driver: nvidia, count: 2, device_ids: ['0']", {"npus": (), "npus_wanted": 0}),
        ("network_mode: host", {"is_host_network": True}),
        ("network_mode: container:other", {"network_of": "other"}),
        ("network_mode: service:s", {"network_of": "s"}),
        ("network_mode: bridge", {"is_host_network": False, "network_of": ""}),
        (
            "volumes: ['/data:/models:ro', '/anonymous', 'cache:/c']",
            {"mounts": (Mount("/data", "/models"), Mount("cache", "/c"))},
        ),
        (
            "volumes: [{type: bind, source: /a, target: /b}, {type: tmpfs, target: /t}]",
            {"mounts": (Mount("/a", "/b"),)},
        ),
        ("container_name: c", {"name": "c"}),
        ("deploy: {placement: {constraints: [a == b, node.hostname==n1]}}", {"node": "n1"}),
        ("image: 'x:${TAG:-v1}'", {"image": "x:v1"}),
        ("deploy: {replicas: 2}", {"replicas": 2}),
        ("scale: 3", {"replicas": 3}),
        ("deploy: [1]\nports: {a: b}\nvolumes: x\nnetwork_mode: [x]\ncommand: {}", {"argv": ()}),
    ],
)
def test_fields(fields: str, expected: dict[str, Any]) -> None:
    found = container(fields)
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("fields", "code", "values"),
    [
        ("env_file: .env", Code.ENV_FILE_UNREAD, {"container": "s", "source": ".env"}),
        ("env_file: [{path: a.env}]", Code.ENV_FILE_UNREAD, {"container": "s", "source": "a.env"}),
        ("profiles: [big, all]", Code.PROFILE_NEEDED, {"container": "s", "profile": "big all"}),
        ("scale: 2", Code.REPLICAS_ONE_ADDRESS, {"container": "s", "count": "2"}),
        ("ports: ['1:2:3:4:5']", Code.PORT_UNREADABLE, {"container": "s", "port": "1:2:3:4:5"}),
        ("ports: [{target: x}]", Code.PORT_UNREADABLE, {"container": "s", "port": "x"}),
        (
            "devices: ['/dev/davinci*']",
            Code.DEVICES_UNREADABLE,
            {"container": "s", "devices": "/dev/davinci*"},
        ),
        ("command: vllm serve /m --port $P", Code.VARIABLE_UNSET, {"variable": "P"}),
        ("command: vllm serve ${M:-/m}", Code.VARIABLE_DEFAULT, {"variable": "M", "value": "/m"}),
        ("command: vllm serve '/m", Code.QUOTE_UNCLOSED, {"quote": "'"}),
        ("command: vllm serve /m \\ --port 1", Code.COMMAND_BACKSLASH, {"container": "s"}),
        (
            "extends: {service: b, file: base.yaml}",
            Code.FILE_NOT_FOLLOWED,
            {"what": "s", "file": "base.yaml"},
        ),
        ("command: bash /start.sh", Code.SHELL_NOT_FOLLOWED, {"what": "/start.sh"}),
    ],
)
def test_what_is_noticed(fields: str, code: Code, values: dict[str, str]) -> None:
    (finding,) = service(fields).findings
    assert (finding.code, dict(finding.values)) == (code, values)


def test_the_lines_of_variables_are_theirs() -> None:
    (finding,) = service("environment:\n  A: x\n  B: ${C}\n").findings
    assert finding.origin == Origin("compose.yaml", 6)


def test_services_that_have_to_do_with_no_engine_are_quiet() -> None:
    sighting = seen("services: {db: {image: 'redis:$TAG', env_file: x, profiles: [a]}}")
    assert [c.name for c in sighting.containers] == ["db"]
    assert sighting.findings == ()


FLEET = """\
version: "3.8"
x-common: &common
  image: vllm-ascend:v1
  environment: &env {HCCL_BUFFSIZE: 512}
services:
  base:
    <<: *common
    devices: [/dev/davinci_manager]
    ports: ["1:1"]
    command: vllm serve /base
  a:
    extends: base
    container_name: qwen-a
    environment: [A=1]
    devices: [/dev/davinci0]
    ports: ["12320:8000"]
    command: vllm serve /a
  b:
    extends: {service: a, file: ./compose.yaml}
    container_name: qwen-b
    environment:
      <<: *env
      A: 2
  c: {network_mode: "service:a", image: x}
"""


def test_anchors_merges_and_extends() -> None:
    base, a, b, c = seen(FLEET).containers
    assert [base.origin.line, a.origin.line, b.origin.line] == [6, 11, 18]
    assert base.environment == {"HCCL_BUFFSIZE": "512"}
    assert a.environment == {"HCCL_BUFFSIZE": "512", "A": "1"}
    assert (a.name, a.image, a.npus) == ("qwen-a", "vllm-ascend:v1", (0,))
    assert a.ports == (PortMap(1, 1), PortMap(12320, 8000))
    assert a.argv == ("vllm", "serve", "/a")
    assert (b.name, b.environment["A"], b.argv) == ("qwen-b", "2", ("vllm", "serve", "/a"))
    assert c.network_of == "qwen-a"
    assert [launch.origin.line for launch in seen(FLEET).launches] == [10, 17, 17]


def test_extends_in_circles_ends() -> None:
    sighting = seen(
        "services: {a: {extends: b, image: x}, b: {extends: a, image: y}, c: {extends: c}}"
    )
    assert [c.name for c in sighting.containers] == ["a", "b", "c"]


def test_a_later_document_overrides() -> None:
    text = (
        "services: {a: {image: x, ports: ['1:1']}}\n---\nservices: {a: {image: y, ports: ['2:2']}}"
    )
    (found,) = seen(text).containers
    assert (found.image, found.ports) == ("y", (PortMap(1, 1), PortMap(2, 2)))


def test_the_first_version_had_services_at_the_top() -> None:
    (found,) = seen("web:\n  image: vllm\n  ports: ['80:8000']\nvolumes: {}\n").containers
    assert (found.name, found.ports) == ("web", (PortMap(80, 8000),))


def test_included_files_are_told() -> None:
    sighting = seen("include: [a.yaml, {path: [b.yaml, c.yaml]}]\nservices: {}\n")
    assert [f.values["file"] for f in sighting.findings] == ["a.yaml", "b.yaml", "c.yaml"]
    assert codes(sighting) == [Code.FILE_NOT_FOLLOWED] * 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("services: {}", True),
        ("services: [a]", False),
        ("web: {image: x}", True),
        ("web: {build: .}", True),
        ("web: {command: x}", False),
        ("apiVersion: v1\nkind: Pod\nspec: {image: x}", False),
        ("[1]", False),
        ("text", False),
        ("", False),
    ],
)
def test_what_a_compose_file_is(text: str, expected: bool) -> None:
    documents, _ = read_documents(text)
    assert is_compose(documents[0].tree if documents else None) is expected


FIELDS = words(
    "services image command entrypoint environment env_file ports target published devices source"
    " deploy resources reservations device_ids network_mode volumes container_name extends service"
    " file profiles replicas scale include path runtime privileged"
)
SCALARS = st.none() | st.sampled_from(
    ["a", "8000", "1:2", "${A:-", "$B", "'", "true", "host", "a=b"]
)
TREES: st.SearchStrategy[Tree] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=20,
)


@UNHURRIED
@given(st.dictionaries(st.sampled_from(["a", "b"]), TREES, max_size=2), TREES)
def test_any_tree_is_read(services: dict[str, Tree], other: Tree) -> None:
    read_compose([Document({"services": services, "include": other}), Document(other)], "c")

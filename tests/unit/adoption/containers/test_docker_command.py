from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.codes import Code
from gateway.adoption.containers.docker_command import (
    DockerCall,
    Started,
    read_call,
    read_exec,
    read_run,
)
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Container, Mount, PortMap
from tests.unit.adoption.containers.real_docker import Judge, judge, needs_docker

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

ORIGIN = Origin("run.sh", 3)


def started(
    command: str | list[str], environment: Mapping[str, str] | None = None
) -> tuple[Started, tuple[Finding, ...]]:
    words = command.split() if isinstance(command, str) else command
    call = read_call(words, environment or {})
    assert call is not None
    assert call.is_run
    return read_run(call, environment or {}, ORIGIN)


def container(command: str | list[str]) -> Container:
    return started(command)[0].container


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("docker run x", DockerCall("run", ("x",))),
        ("/usr/bin/docker create x", DockerCall("create", ("x",))),
        ("podman run -d x", DockerCall("run", ("-d", "x"))),
        ("nerdctl -n k8s.io run x", DockerCall("run", ("x",))),
        ("isula run x", DockerCall("run", ("x",))),
        ("docker container run x", DockerCall("run", ("x",))),
        ("docker container exec -it a b", DockerCall("exec", ("-it", "a", "b"))),
        ("docker --context far -D run x", DockerCall("run", ("x",))),
        ("docker -H tcp://10.0.0.5:2375 run x", DockerCall("run", ("x",), "10.0.0.5")),
        ("docker --host=ssh://root@node1 run x", DockerCall("run", ("x",), "node1")),
        ("docker -H tcp://[fd00::1]:2375 run x", DockerCall("run", ("x",), "fd00::1")),
        ("docker -H unix:///run/docker.sock run x", DockerCall("run", ("x",))),
        ("podman --url ssh://u@node2:22/run/p.sock run x", DockerCall("run", ("x",), "node2")),
        ("docker compose -f a.yml exec -T web ls", DockerCall("exec", ("-T", "web", "ls"))),
        ("docker-compose exec web ls", DockerCall("exec", ("web", "ls"))),
        ("docker compose up -d", None),
        ("docker compose run web", None),
        ("docker-compose run web", None),
        ("docker ps", None),
        ("docker", None),
        ("vllm serve x", None),
        ("", None),
    ],
)
def test_calls(command: str, call: DockerCall | None) -> None:
    assert read_call(command.split(), {}) == call


def test_the_host_may_stand_in_a_variable() -> None:
    call = read_call(["docker", "run", "x"], {"DOCKER_HOST": "tcp://10.0.0.6:2376"})
    assert call == DockerCall("run", ("x",), "10.0.0.6")
    assert read_call(["podman", "run", "x"], {"DOCKER_HOST": "tcp://10.0.0.6:2376"}) == DockerCall(
        "run", ("x",)
    )


PLAIN = Container(ORIGIN, name="", image="i")


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ("-p 12322:12320", {"ports": (PortMap(12322, 12320),)}),
        ("-p127.0.0.1:1:2/tcp", {"ports": (PortMap(1, 2, "127.0.0.1"),)}),
        ("--publish=8000-8001:9000-9001", {"ports": (PortMap(8000, 9000), PortMap(8001, 9001))}),
        ("-p 8000", {"ports": (PortMap(None, 8000),)}),
        ("-p [::1]:80:80 -p 80:80 -p 80:80", {"ports": (PortMap(80, 80, "::1"), PortMap(80, 80))}),
        ("-P", {"is_publishing_all": True}),
        ("--publish-all=true", {"is_publishing_all": True}),
        ("--device /dev/davinci0 --device=/dev/davinci1:/dev/davinci1:rwm", {"npus": (0, 1)}),
        ("--device /dev/davinci_manager --device /dev/hisi_hdc", {}),
        ("--privileged", {"npus": None}),
        ("--privileged=false", {}),
        ("-e A=b --env=C=d=e -eF=", {"environment": {"A": "b", "C": "d=e", "F": ""}}),
        ("-e A", {}),
        ("--name n -itd", {"name": "n"}),
        ("--name=n", {"name": "n"}),
        ("--net=host", {"is_host_network": True}),
        ("--network host", {"is_host_network": True}),
        ("--network my-net", {}),
        ("--network container:other", {"network_of": "other"}),
        ("-v /a:/b:ro --volume=/c:/d", {"mounts": (Mount("/a", "/b"), Mount("/c", "/d"))}),
        ("--mount type=bind,src=/a,dst=/b", {"mounts": (Mount("/a", "/b"),)}),
        ("--entrypoint /bin/bash", {"argv": ("/bin/bash",)}),
        ("--entrypoint=", {}),
        ("-w /x -u root --ipc host --shm-size 1g --cpuset-cpus 0-3 --ulimit memlock=-1", {}),
        ("--restart=always --restart on-failure:3 --gpus all -m 250g --memory=1g --init", {}),
        ("--security-opt seccomp=unconfined --cap-add ALL --pids-limit -1 --rm", {}),
        ("--userns=keep-id --pod new:p --systemd always --replace --tls-verify=false", {}),
        (
            "--runtime=ascend -e ASCEND_VISIBLE_DEVICES=0-1,3",
            {"npus": (0, 1, 3), "environment": {"ASCEND_VISIBLE_DEVICES": "0-1,3"}},
        ),
    ],
)
def test_options(options: str, changes: Mapping[str, Any]) -> None:
    found, findings = started(f"docker run {options} i")
    assert found.container == replace(PLAIN, **changes)
    assert findings == ()


def test_what_stands_behind_the_image_is_its_command() -> None:
    found = container("docker run --name a img:1 vllm serve /m --name b -p 1:2")
    assert found.argv == ("vllm", "serve", "/m", "--name", "b", "-p", "1:2")
    assert (found.image, found.name, found.ports) == ("img:1", "a", ())
    assert container("docker run --entrypoint bash img -c ls").argv == ("bash", "-c", "ls")


def test_a_variable_of_the_caller_is_handed_on() -> None:
    found, _ = started("docker run -e A -e B -e C=1 i", {"A": "x", "C": "9"})
    assert found.container.environment == {"A": "x", "C": "1"}


def test_a_container_of_another_host_is_bound_to_it() -> None:
    assert container("docker -H tcp://10.0.0.5:2375 run i").node == "10.0.0.5"


@pytest.mark.parametrize(
    ("options", "code", "values"),
    [
        ("--env-file .env", Code.ENV_FILE_UNREAD, {"container": "i", "source": ".env"}),
        (
            "--device=/dev/davinci[0-3]",
            Code.DEVICES_UNREADABLE,
            {"container": "i", "devices": "/dev/davinci[0-3]"},
        ),
        ("-p 99999:80", Code.PORT_UNREADABLE, {"container": "i", "port": "99999:80"}),
        ("--what=x", Code.CONTAINER_OPTION_UNKNOWN, {"container": "i", "option": "--what"}),
        ("--what x", Code.CONTAINER_OPTION_UNKNOWN, {"container": "i", "option": "--what"}),
    ],
)
def test_what_is_noticed(options: str, code: Code, values: Mapping[str, str]) -> None:
    found, findings = started(f"docker run {options} i")
    assert found.container.image == "i"
    assert [(f.code, f.origin, dict(f.values)) for f in findings] == [(code, ORIGIN, values)]


@pytest.mark.parametrize(
    ("command", "is_entered"),
    [
        ("docker run -it i bash", True),
        ("docker run -it i", True),
        ("docker run -ti --rm i /bin/bash -l", True),
        ("docker run -ti --rm i /bin/bash --login --norc", True),
        ("docker run -itd i bash", False),
        ("docker run -d i", False),
        ("docker run i bash", False),
        ("docker create -it i bash", False),
        ("docker run -it i bash -c ls", False),
        ("docker run -it i vllm serve m", False),
    ],
)
def test_a_shell_to_type_in_is_seen(command: str, is_entered: bool) -> None:
    assert started(command)[0].is_entered is is_entered


@pytest.mark.parametrize(
    ("command", "name", "argv", "environment", "is_entered"),
    [
        ("docker exec n ls -l", "n", ("ls", "-l"), {}, False),
        ("docker exec -it n bash", "n", ("bash",), {}, True),
        (
            "docker exec -d -e A=b -w /x -u root n sh -lc x",
            "n",
            ("sh", "-lc", "x"),
            {"A": "b"},
            False,
        ),
        ("docker exec -ite A=b n bash -c -it", "n", ("bash", "-c", "-it"), {"A": "b"}, False),
        ("docker exec --env=A --workdir=/ n ls", "n", ("ls",), {"A": "caller"}, False),
        ("docker exec --privileged --detach-keys ctrl-x n ls", "n", ("ls",), {}, False),
        ("podman exec --preserve-fds 2 n ls", "n", ("ls",), {}, False),
        ("docker compose exec --index 2 -T n ls", "n", ("ls",), {}, False),
        ("docker exec", "", (), {}, False),
    ],
)
def test_exec(
    command: str,
    name: str,
    argv: tuple[str, ...],
    environment: Mapping[str, str],
    is_entered: bool,
) -> None:
    caller = {"A": "caller"}
    call = read_call(command.split(), caller)
    assert call is not None
    assert call.verb == "exec"
    inside, findings = read_exec(call, caller, ORIGIN)
    assert (inside.container_name, inside.argv) == (name, argv)
    assert (inside.environment, inside.is_entered) == (environment, is_entered)
    assert findings == ()


@UNHURRIED
@given(st.lists(st.text(max_size=12), max_size=12), st.sampled_from(["run", "exec", "create"]))
def test_any_words_are_read(words: list[str], verb: str) -> None:
    call = read_call(["docker", verb, *words], {})
    if call is not None and call.is_run:
        read_run(call, {}, ORIGIN)
    elif call is not None:
        read_exec(call, {}, ORIGIN)


@pytest.fixture(scope="module")
def docker() -> Iterator[Judge]:
    with judge() as client:
        yield client


COMMANDS = (
    "--runtime=ascend --name n --device /dev/davinci0 --device /dev/hisi_hdc -e A=0,1 img:1 bash",
    "-p 12320:8000 -v /data:/models:ro --memory=250g img",
    "-it -p80:8000 -p=81:8001 -P --net=host img vllm serve -p 1:2",
    "-itp 127.0.0.1::8000 --publish 8000-8003:80 --publish=1-2:3-4/tcp -p 53:53/udp img",
    "-p [::1]:80:80 -p ::1:81:80 -p 0.0.0.0:9:9 -p 0:5 -p :6 img -- a",
    "--entrypoint=bash --privileged -ite Q=1 -eA=b --env X=1=2 -- img -c vllm",
    "--entrypoint= --network container:x --mount type=bind,src=/s,dst=/t,readonly img --model x",
    "--gpus all -u0 -h n -l a=b --pids-limit -1 --device=/dev/davinci1:/dev/davinci0:rwm img",
    "--privileged=false -tP -c 512 --cpus 4.5 --ulimit memlock=-1 --shm-size=1g --tmpfs /run img",
    "--restart on-failure:3 --log-opt max-size=1g --add-host a:1.2.3.4 img",
    "--sysctl net.core.somaxconn=1 --security-opt seccomp=unconfined --cap-add ALL img",
    "-p 80:80:80 img",
    "-p 1-2:1-3 img",
    "-p 70000:1 img",
    "-p 8000: img",
    "--what img",
)


@needs_docker
@pytest.mark.parametrize("options", COMMANDS)
def test_the_real_client_reads_the_same(options: str, docker: Judge) -> None:
    asked = docker.create(options.split())
    found, findings = started(f"docker create {options}")
    if asked is None:
        assert findings
        return
    assert findings == ()
    host, mine = asked["HostConfig"], found.container
    argv = [*(asked["Entrypoint"] or ()), *(asked["Cmd"] or ())]
    assert mine.argv == tuple(word for word in argv if word)
    assert mine.image == asked["Image"]
    assert mine.name == asked["path"].partition("name=")[2]
    variables = {f"{key}={value}" for key, value in mine.environment.items()}
    assert variables == set(asked["Env"] or ())
    assert mine.is_host_network == (host["NetworkMode"] == "host")
    assert mine.is_publishing_all == host["PublishAllPorts"]
    assert set(mine.ports) == set(_ports(host["PortBindings"] or {}))
    devices = [device["PathOnHost"] for device in host["Devices"] or ()]
    numbers = tuple(int(name[12:]) for name in devices if name.startswith("/dev/davinci"))
    assert mine.npus == (None if host["Privileged"] else numbers)
    mounts = [tuple(bind.split(":")[:2]) for bind in host["Binds"] or ()]
    mounts += [(mount["Source"], mount["Target"]) for mount in host.get("Mounts") or ()]
    assert [tuple(mount) for mount in map(_pair, mine.mounts)] == mounts


def _pair(mount: Mount) -> tuple[str, str]:
    return mount.source, mount.target


def _ports(bindings: Mapping[str, list[dict[str, str]]]) -> Iterator[PortMap]:
    for place, hosts in bindings.items():
        inside, _, protocol = place.partition("/")
        for host in hosts:
            if protocol == "tcp":
                port = host["HostPort"]
                number = int(port) if port.isdigit() and port != "0" else None
                ip = host["HostIp"]
                yield PortMap(number, int(inside), "" if ip == "0.0.0.0" else ip)

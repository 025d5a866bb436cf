import shlex

import pytest

from gateway.adoption.containers.remote_command import Remote, read_remote


@pytest.mark.parametrize(
    ("command", "remote"),
    [
        ("ssh node1 'vllm serve m'", Remote("node1", text="vllm serve m")),
        ("ssh root@10.0.0.5 ls -l", Remote("10.0.0.5", text="ls -l")),
        ("ssh -p 2222 -i key -o A=b -tt u@h x", Remote("h", text="x")),
        ("ssh -p2222 h -l root x", Remote("h", text="x")),
        ("ssh ssh://u@h:22/ x", Remote("h", text="x")),
        ("ssh h -- x -y", Remote("h", text="x -y")),
        ("ssh h", Remote("h", is_entered=True)),
        ("ssh -fN -L 1:localhost:2 h", Remote("h")),
        ("ssh h -N -L 1:localhost:2", Remote("h")),
        ("kubectl exec -it p -- bash -l", Remote("", "p", argv=("bash", "-l"), is_entered=True)),
        ("/usr/bin/sshpass -p secret ssh h x", Remote("h", text="x")),
        ("sshpass -psecret ssh h x", Remote("h", text="x")),
        ("sshpass -e ssh h x", Remote("h", text="x")),
        ("sshpass", None),
        ("ssh", None),
        ("ssh -V", None),
        ("kubectl exec p -- ls -l", Remote(container_name="p", argv=("ls", "-l"))),
        (
            "kubectl -n a exec -it p -c c -- sh -c x",
            Remote(container_name="p", argv=("sh", "-c", "x")),
        ),
        ("kubectl exec deploy/qwen -- ls", Remote(container_name="qwen", argv=("ls",))),
        ("kubectl exec qwen-7d9f8c6b5-x2x4z -- ls", Remote(container_name="qwen", argv=("ls",))),
        ("kubectl exec qwen-0 -- ls", Remote(container_name="qwen-0", argv=("ls",))),
        ("kubectl exec p ls", Remote(container_name="p", argv=("ls",))),
        ("k3s kubectl exec p -- ls", Remote(container_name="p", argv=("ls",))),
        ("oc exec p -- ls", Remote(container_name="p", argv=("ls",))),
        ("kubectl exec p", None),
        ("kubectl get pods p x", None),
        ("rsync a b", None),
        ("", None),
    ],
)
def test_where_a_command_runs(command: str, remote: Remote | None) -> None:
    assert read_remote(shlex.split(command)) == remote

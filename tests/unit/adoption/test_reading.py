import json
from textwrap import dedent, indent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.codes import Code
from gateway.adoption.containers.cluster_objects import MAX_PODS
from gateway.adoption.containers.inspected import MAX_CONTAINERS
from gateway.adoption.containers.transcript import MAX_BLOCKS
from gateway.adoption.findings import Origin
from gateway.adoption.reading import MAX_CHARS, read_source
from gateway.adoption.sources import Launch, Mount, PortMap, Sighting

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

CONTAINER_9B = """\
#!/bin/bash
# 9B on the second card
docker run -itd \\
  --runtime=ascend --name vllm-ascend-qwen3.5 \\
  --device /dev/davinci0 --device /dev/davinci1 \\
  --device /dev/davinci_manager --device /dev/hisi_hdc --device /dev/devmm_svm \\
  -e ASCEND_RT_VISIBLE_DEVICES=2,3 \\
  -p 12322:12320 -v /data/models:/models/scripts:ro --memory=250g \\
  quay.io/ascend/vllm-ascend:v0.20.2rc1-310p-openeuler bash
"""
CONTAINER_27B = (
    "docker run -itd --runtime=ascend --name=vllm-ascend-qwen3 --device=/dev/davinci0"
    " --device=/dev/davinci1 --device=/dev/davinci_manager --device=/dev/hisi_hdc"
    ' --device=/dev/devmm_svm -e "ASCEND_RT_VISIBLE_DEVICES=0,1" --publish 12320:12320'
    " -v /data/models:/models/scripts:ro --memory=250g"
    " m.daocloud.io/quay.io/ascend/vllm-ascend:v0.20.2rc1-310p-openeuler bash\n"
)
SERVE_9B = """\
#!/bin/bash
export HCCL_BUFFSIZE=512 OMP_NUM_THREADS=1
MODEL=${MODEL:-/models/Qwen3.5-9B}
ASCEND_RT_VISIBLE_DEVICES=2,3 \\
vllm serve "$MODEL" --host 0.0.0.0 --port 12320 -tp 2 \\
  --compilation-config '{"cudagraph_mode": "FULL_DECODE_ONLY", "cudagraph_capture_sizes": [1,4]}' \\
  --max-model-len 53248 2>&1 | tee /var/log/vllm-9b.log
"""
SERVE_27B = (
    "export HCCL_BUFFSIZE=512\n"
    "docker exec -d vllm-ascend-qwen3 bash -c 'ASCEND_RT_VISIBLE_DEVICES=0,1 vllm serve"
    " /models/qwen3.5-27B-w8a8 --port 12320 --compilation-config"
    ' "{\\"cudagraph_mode\\": \\"FULL_DECODE_ONLY\\"}" --max-model-len 40960\'\n'
)
SERVE_8B = """\
#!/usr/bin/env bash
set -e
source /usr/local/Ascend/ascend-toolkit/set_env.sh
export ASCEND_RT_VISIBLE_DEVICES=0,1
W=/models/Qwen3-8B/TP2
vllm serve ${W}/tp2 --port 12320 \\
   --compilation-config '{"cudagraph_mode": "FULL_DECODE_ONLY",
                          "cudagraph_capture_sizes": [1,2,4,8]}' \\
   --load_format="sharded_state"
"""
SERVE_EAGER = """\
#!/bin/sh
export ASCEND_RT_VISIBLE_DEVICES="0, 1"
nohup python3 -m vllm.entrypoints.openai.api_server --model=/m --port=8000 >> server.out 2>&1 &
"""
COMPOSE = """\
services:
  qwen-a:
    image: quay.io/ascend/vllm-ascend:v0.23.0-310p
    devices: ["/dev/davinci0", "/dev/davinci1", "/dev/davinci_manager"]
    environment: {ASCEND_RT_VISIBLE_DEVICES: "0,1"}
    ports: ["12320:8000"]
    command: >
      vllm serve /models/Qwen3.5-9B --served-model-name qwen3.5-9b qwen
      --compilation-config '{"cudagraph_mode":"FULL_DECODE_ONLY"}'
  qwen-b:
    image: quay.io/ascend/vllm-ascend:v0.23.0-310p
    devices: ["/dev/davinci1", "/dev/davinci2"]
    ports: [{target: 8000, published: 12320}]
    command: ["vllm", "serve", "/models/qwen3.5-27B-w8a8", "-tp", "2"]
"""
LOG = (
    "INFO 06-14 10:02:11 [model.py:1547] Using max model len 53248\n"
    "(APIServer pid=1) INFO:     Application startup complete.\n"
)
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - {name: c, image: vllm, command: [vllm, serve, /m]}
"""
UNIT = "[Unit]\nDescription=x\n[Service]\nExecStart=vllm serve /m\n"
QUADLET = "[Container]\nImage=vllm\nContainerName=q\nExec=vllm serve /m\n"
INSPECTED = json.dumps(
    [
        {
            "Name": "/q",
            "Config": {"Image": "vllm", "Cmd": ["vllm", "serve", "/m"], "Env": None},
            "HostConfig": {"Privileged": True},
        }
    ]
)


def seen(text: str, file: str = "source") -> Sighting:
    return read_source(text, file)


def only(text: str, file: str = "source") -> Launch:
    (launch,) = seen(text, file).launches
    return launch


def codes(sighting: Sighting) -> list[Code]:
    return [finding.code for finding in sighting.findings]


def test_a_container_without_an_engine() -> None:
    sighting = seen(CONTAINER_9B, "docker_9b.sh")
    (container,) = sighting.containers
    assert container.origin == Origin("docker_9b.sh", 3)
    assert (container.name, container.npus) == ("vllm-ascend-qwen3.5", (0, 1))
    assert container.ports == (PortMap(12322, 12320),)
    assert container.mounts == (Mount("/data/models", "/models/scripts"),)
    assert container.environment == {"ASCEND_RT_VISIBLE_DEVICES": "2,3"}
    assert container.argv == ("bash",)
    assert (sighting.launches, sighting.findings) == ((), ())


def test_the_same_with_equal_signs() -> None:
    (container,) = seen(CONTAINER_27B).containers
    assert (container.name, container.npus) == ("vllm-ascend-qwen3", (0, 1))
    assert container.ports == (PortMap(12320, 12320),)
    assert container.image.startswith("m.daocloud.io/")


def test_a_script_with_exports_and_a_default() -> None:
    sighting = seen(SERVE_9B, "serve_9b.sh")
    (launch,) = sighting.launches
    assert launch.origin == Origin("serve_9b.sh", 5)
    assert launch.argv[:3] == ("vllm", "serve", "/models/Qwen3.5-9B")
    assert '{"cudagraph_mode": "FULL_DECODE_ONLY", "cudagraph_capture_sizes": [1,4]}' in launch.argv
    assert launch.environment["ASCEND_RT_VISIBLE_DEVICES"] == "2,3"
    assert launch.environment["HCCL_BUFFSIZE"] == "512"
    assert launch.log_files == ("/var/log/vllm-9b.log",)
    assert codes(sighting) == [Code.VARIABLE_DEFAULT]


def test_docker_exec() -> None:
    launch = only(SERVE_27B, "serve_27b.sh")
    assert launch.container_name == "vllm-ascend-qwen3"
    assert launch.environment == {"ASCEND_RT_VISIBLE_DEVICES": "0,1"}
    assert launch.origin == Origin("serve_27b.sh", 2)
    assert '{"cudagraph_mode": "FULL_DECODE_ONLY"}' in launch.argv


def test_json_over_two_lines() -> None:
    launch = only(SERVE_8B)
    assert launch.argv[2] == "/models/Qwen3-8B/TP2/tp2"
    assert launch.argv[-1] == "--load_format=sharded_state"
    assert json.loads(launch.argv[6])["cudagraph_capture_sizes"] == [1, 2, 4, 8]


def test_the_old_entry_point_in_the_background() -> None:
    launch = only(SERVE_EAGER)
    assert launch.argv[:3] == ("python3", "-m", "vllm.entrypoints.openai.api_server")
    assert launch.environment == {"ASCEND_RT_VISIBLE_DEVICES": "0, 1"}
    assert launch.log_files == ("server.out",)


def test_a_compose_file() -> None:
    sighting = seen(COMPOSE, "compose.yaml")
    assert [c.name for c in sighting.containers] == ["qwen-a", "qwen-b"]
    assert [c.npus for c in sighting.containers] == [(0, 1), (1, 2)]
    assert [c.ports for c in sighting.containers] == [(PortMap(12320, 8000),)] * 2
    assert [launch.container for launch in sighting.launches] == list(sighting.containers)
    assert sighting.launches[0].argv[-1] == '{"cudagraph_mode":"FULL_DECODE_ONLY"}'
    assert sighting.findings == ()


def test_a_log() -> None:
    sighting = seen(LOG, "start.log")
    (log,) = sighting.logs
    assert (log.max_model_len, log.is_ready) == (53248, True)
    assert Code.NOTHING_FOUND not in codes(sighting)


@pytest.mark.parametrize(
    ("text", "file", "line", "container"),
    [
        ("vllm serve /m", "one-line", 1, None),
        (POD, "pod.yaml", 6, "p"),
        (POD, "no-suffix", 6, "p"),
        (UNIT, "vllm.service", 4, None),
        (QUADLET, "q.container", 4, "q"),
        ("FROM vllm\nCMD vllm serve /m\n", "Dockerfile", 2, ""),
        (INSPECTED, "inspect.json", 0, "q"),
        ("root 1 0 0 10:00 ? 00:00:01 vllm serve /m\n", "ps", 1, None),
        ("$ vllm serve /m\nINFO started\n", "notes.txt", 1, None),
        ("\ufeffvllm serve /m", "bom", 1, None),
        ("vllm serve \\\r\n /m\r\n", "dos", 1, None),
        (
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": "p"},
                    "spec": {"containers": [{"image": "vllm", "args": ["vllm", "serve", "/m"]}]},
                }
            ),
            "pod.json",
            0,
            "p",
        ),
        (
            json.dumps({"services": {"s": {"image": "vllm", "command": "vllm serve /m"}}}),
            "config.json",
            0,
            "s",
        ),
    ],
)
def test_every_kind_of_source(text: str, file: str, line: int, container: str | None) -> None:
    launch = only(text, file)
    assert launch.argv == ("vllm", "serve", "/m")
    assert launch.origin == Origin(file, line)
    assert (launch.container.name if launch.container else None) == container


MARKDOWN = """\
# Run book

Start the container:

```bash
$ docker run -itd --name q --device /dev/davinci0 vllm bash
0123456789abcdef
```

1. Then inside:

   ```console
   [root@host ~]# docker exec -it q bash
   root@q:/# export ASCEND_RT_VISIBLE_DEVICES=0
   ```
   ```
   vllm serve /m
   ```

It's ready when it says so:

```
INFO:     Application startup complete.
(it's up)
```
```python
print("vllm serve /python")
```
```yaml
services:
  s:
    image: vllm
    command: vllm serve /s
```
```sh
--max-model-len 4096
```
"""


def test_markdown_is_one_script_and_its_manifests() -> None:
    sighting = seen(MARKDOWN, "RUN.md")
    assert [launch.argv[2] for launch in sighting.launches] == ["/s", "/m"]
    manifest, script = sighting.launches
    assert manifest.origin == Origin("RUN.md", 33)
    assert script.origin == Origin("RUN.md", 17)
    assert script.container_name == "q"
    assert script.environment == {"ASCEND_RT_VISIBLE_DEVICES": "0"}
    assert [c.name for c in sighting.containers] == ["s", "q"]
    assert sighting.findings == ()


TRANSCRIPT = """\
[root@n1 ~]# docker exec -it a bash
root@a:/# vllm serve /a &
INFO started
root@a:/# exit
[root@n1 ~]# docker exec -it b bash
root@b:/# vllm serve /b
"""


def test_a_transcript_goes_in_and_out_of_containers() -> None:
    for text, file in ((TRANSCRIPT, "notes.txt"), (f"```\n{TRANSCRIPT}```\n", "notes.md")):
        launches = seen(text, file).launches
        assert [(one.argv[2], one.container_name) for one in launches] == [("/a", "a"), ("/b", "b")]


def test_an_exit_ends_a_script() -> None:
    assert only("vllm serve /a\nexit\nvllm serve /b\n", "a.sh").argv[2] == "/a"


def test_a_broken_block_of_markdown_does_not_swallow_the_next() -> None:
    text = "```sh\nvllm serve /a 'open\n```\n```sh\nvllm serve /b\n```\n"
    sighting = seen(text, "a.md")
    assert [launch.argv[2] for launch in sighting.launches] == ["/b"]
    assert codes(sighting) == [Code.QUOTE_UNCLOSED]


def test_what_a_script_writes_is_read_too() -> None:
    unit = indent(UNIT, "")
    text = (
        "cat > serve.sh <<'EOF'\n#!/bin/bash\nvllm serve /a\nEOF\n"
        f"tee /etc/systemd/system/v.service <<'EOF'\n{unit}EOF\n"
        f"kubectl apply -f - <<EOF\n{POD}EOF\n"
        f"docker compose -f - up -d <<EOF\n{COMPOSE}EOF\n"
    )
    sighting = seen(text, "setup.sh")
    lines = text.split("\n")
    assert [launch.argv[2] for launch in sighting.launches] == [
        "/a",
        "/m",
        "/m",
        "/models/Qwen3.5-9B",
        "/models/qwen3.5-27B-w8a8",
    ]
    assert sighting.launches[0].origin == Origin("setup.sh", 3)
    assert lines[sighting.launches[1].origin.line - 1] == "ExecStart=vllm serve /m"
    assert "vllm, serve, /m" in lines[sighting.launches[2].origin.line - 1]
    assert "Qwen3.5-9B" in lines[sighting.launches[3].origin.line - 1]


def test_a_script_that_is_written_and_run_counts_once() -> None:
    text = "export P=80\ncat > s.sh <<'EOF'\nvllm serve /m --port $P\nEOF\nbash s.sh\n"
    sighting = seen(text)
    (launch,) = sighting.launches
    assert launch.argv == ("vllm", "serve", "/m", "--port", "80")
    assert launch.origin.line == 3
    assert sighting.findings == ()


def test_texts_in_texts_end_somewhere() -> None:
    text = "vllm serve /m\n"
    for level in range(6):
        text = f"cat > f{level} <<'E{level}'\n{text}E{level}\n"
    assert seen(text).launches == ()


@pytest.mark.parametrize(
    ("text", "file", "found"),
    [
        ("", "a", [Code.NOTHING_FOUND]),
        ("echo hello", "a", [Code.NOTHING_FOUND]),
        ("Dear all, it's done (see below): don't", "mail", [Code.NOTHING_FOUND]),
        ("bash n9.sh", "a", [Code.SHELL_NOT_FOLLOWED, Code.NOTHING_FOUND]),
        ("vllm serve 'open", "a", [Code.QUOTE_UNCLOSED, Code.NOTHING_FOUND]),
        ("\x7fELF\0\0", "a", [Code.SOURCE_UNREADABLE, Code.NOTHING_FOUND]),
        ("kind: Pod\nspec: [", "a.yaml", [Code.MANIFEST_UNREADABLE, Code.NOTHING_FOUND]),
        ("a: &a [*a]", "a.yaml", [Code.MANIFEST_TOO_LARGE, Code.NOTHING_FOUND]),
        ('{"a": ' * 70 + "1" + "}" * 70, "a.json", [Code.MANIFEST_TOO_LARGE, Code.NOTHING_FOUND]),
        ("kind: Pod\nspec: {{ toYaml .x }}", "a", [Code.TEMPLATE_NOT_RENDERED, Code.NOTHING_FOUND]),
        ("kind: Pod\nimage: {{ image }}", "a", [Code.TEMPLATE_NOT_RENDERED, Code.NOTHING_FOUND]),
        (
            "{{- if .Values.x }}\nkind: Pod\n{{- end }}",
            "a",
            [Code.TEMPLATE_NOT_RENDERED, Code.NOTHING_FOUND],
        ),
        ("model: /m\nport: 1", "values.yaml", [Code.NOTHING_FOUND]),
        ('{"object": "list"}', "a", [Code.NOTHING_FOUND]),
        ("# Title\n```python\nx\n```", "a.md", [Code.NOTHING_FOUND]),
        ("```\ntree |-- it's (vllm)\n```", "a.md", [Code.NOTHING_FOUND]),
    ],
)
def test_what_gives_nothing_says_why(text: str, file: str, found: list[Code]) -> None:
    assert codes(seen(text, file)) == found


def test_what_is_too_much_is_told() -> None:
    long = "docker run vllm\n" * (MAX_CHARS // 16 + 1)
    assert codes(seen(long)) == [Code.MANIFEST_TOO_LARGE, Code.NOTHING_FOUND]
    many = "```sh\nls\n```\n" * (MAX_BLOCKS + 1)
    assert codes(seen(many, "a.md")) == [Code.MANIFEST_TOO_LARGE, Code.NOTHING_FOUND]
    pods = "\n---\n".join(["kind: Pod\ncontainers: [{image: x}]\nspec:"] * (MAX_PODS + 1))
    sighting = seen(pods, "a.yaml")
    assert len(sighting.containers) == MAX_PODS
    assert codes(sighting) == [Code.MANIFEST_TOO_LARGE]
    inspected = json.dumps([{"Config": {}, "HostConfig": {}}] * (MAX_CONTAINERS + 1))
    sighting = seen(inspected, "a.json")
    assert len(sighting.containers) == MAX_CONTAINERS
    assert codes(sighting) == [Code.MANIFEST_TOO_LARGE]


def test_a_template_at_one_place_leaves_the_rest() -> None:
    text = POD + "---\n" + POD.replace("/m", "'/m/{{ .Name }}'")
    sighting = seen(text)
    assert [launch.argv[2] for launch in sighting.launches] == ["/m"]
    (finding,) = sighting.findings
    assert finding.code is Code.TEMPLATE_NOT_RENDERED
    assert (finding.origin.line, finding.values) == (13, {"template": "{{ .Name }}"})


def test_a_chat_template_is_no_template() -> None:
    text = POD.replace("/m]", "/m, --chat-template, '{{ bos_token }}{% if x %}']")
    assert codes(seen(text)) == []
    assert len(seen(text).launches) == 1


def test_a_broken_document_leaves_the_others() -> None:
    sighting = seen(f"{POD}---\nkind: [\n---\n{POD}")
    assert len(sighting.launches) == 2
    assert [(f.code, f.origin.line) for f in sighting.findings] == [(Code.MANIFEST_UNREADABLE, 9)]


def test_a_key_given_twice_is_told() -> None:
    sighting = seen("services:\n  a: {image: vllm}\n  a: {image: vllm, command: vllm serve /m}\n")
    assert [(f.code, dict(f.values), f.origin.line) for f in sighting.findings] == [
        (Code.KEY_TWICE, {"key": "a"}, 3)
    ]
    assert len(sighting.launches) == 1


def test_findings_are_told_once() -> None:
    text = dedent("""\
        for i in 0 1; do
          docker exec -d n bash -c "vllm serve $MODEL --port 800$i"
        done
        """)
    sighting = seen(text)
    assert [launch.argv[-1] for launch in sighting.launches] == ["8000", "8001"]
    assert codes(sighting) == [Code.VARIABLE_UNSET]


@UNHURRIED
@given(st.text(max_size=200), st.sampled_from(["a", "a.md", "a.yaml", "a.service", "Dockerfile"]))
def test_any_text_is_read(text: str, file: str) -> None:
    read_source(text, file)


PIECES = [
    "docker run ",
    "-p 1:2 ",
    "vllm serve ",
    "kind: Pod\n",
    "spec:\n",
    " containers:\n",
    " - ",
    "```\n",
    "[Service]\n",
    "ExecStart=",
    "FROM a\n",
    "CMD ",
    "<<E\n",
    "\nE\n",
    "services:\n",
    "  a:\n",
    "'",
    "    command: ",
    "{{ ",
    '"',
    "$X",
    "${",
    "\n",
    "\\\n",
    "\t",
    "{",
    "[",
    "&a ",
    "*a",
    "%i",
    "\x00",
]


@UNHURRIED
@given(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.sampled_from(["a", "a.md", "a.yml"]),
)
def test_any_mixture_is_read(text: str, file: str) -> None:
    sighting = read_source(text, file)
    is_empty = not (sighting.launches or sighting.containers or sighting.logs)
    assert (Code.NOTHING_FOUND in codes(sighting)) is is_empty

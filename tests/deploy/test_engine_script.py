"""What engine.sh and restart-unhealthy.sh do, with programs that stand in for docker and vLLM."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.deploy.engine_templates import BACKENDS, ENGINE, NAMES, calls_in, printed, stub
from tests.deploy.gateway_tools import run

Start = Callable[..., subprocess.CompletedProcess[str]]
WRITE = "import json, os, sys; print(json.dumps(sys.argv[1:]), file=open(os.environ['CALLS'], 'a'))"


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A machine with docker, no NPU, and the facts of all engines in its etc folder."""
    for name in ("bin", "etc"):
        (tmp_path / name).mkdir()
    for name in NAMES:
        text = (BACKENDS / "env" / f"{name}.env").read_text(encoding="utf-8")
        (tmp_path / "etc" / f"{name}.env").write_text(text, encoding="utf-8")
        (tmp_path / "etc" / f"{name}.key.yaml").write_text("api-key: abc\n", encoding="utf-8")
    stub(
        tmp_path / "bin",
        "docker",
        f'python3 -c "{WRITE}" "$@"\n'
        'case $1 in ps) cat "$PS" 2>/dev/null ;; inspect) cat "$INSPECT" 2>/dev/null ;; '
        "logs) echo last words ;; esac\nexit 0",
    )
    stub(tmp_path / "bin", "systemctl", f'python3 -c "{WRITE}" systemctl "$@"')
    return tmp_path


@pytest.fixture
def start(host: Path) -> Start:
    def started(*arguments: str, script: Path = ENGINE) -> subprocess.CompletedProcess[str]:
        return run(
            script,
            *arguments,
            env={
                "PATH": f"{host / 'bin'}:{os.environ['PATH']}",
                "CALLS": str(host / "calls"),
                "PS": str(host / "ps"),
                "INSPECT": str(host / "inspect"),
                "VLLM_ETC": str(host / "etc"),
                "VLLM_EVIDENCE": str(host / "evidence"),
                "VLLM_NO_DEVICE_CHECK": "1",
            },
        )

    return started


def change(host: Path, name: str, old: str, new: str) -> None:
    file = host / "etc" / f"{name}.env"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_background_form_is_started_again_by_docker(
    host: Path, start: Start, name: str
) -> None:
    assert start("start", name).returncode == 0
    command = calls_in(host / "calls")[-1]
    assert command[:4] == ["run", "-d", "--restart", "unless-stopped"]
    assert command[command.index("--name") + 1] == name
    assert "--rm" not in command
    assert "max-size=100m" in command


def test_the_foreground_form_leaves_that_to_systemd(host: Path, start: Start) -> None:
    assert start("run", "9b").returncode == 0
    command = calls_in(host / "calls")[-1]
    assert command[:2] == ["run", "--rm"]
    assert not {"-d", "--restart"} & {*command}
    assert "ascend-gateway.supervisor=systemd" in command


@pytest.mark.parametrize("name", NAMES)
def test_the_server_takes_the_place_of_its_shell(tmp_path: Path, name: str) -> None:
    """What runs in the container, run here: one process, every argument whole."""
    words = shlex.split(printed(name))
    inside = words[words.index("bash") :]
    # Many a bash does so unasked; asked, every one does.
    assert inside[2].endswith('; exec vllm serve "$@"')
    stub(
        tmp_path,
        "vllm",
        'echo $$; python3 -c "import json, sys; print(json.dumps(sys.argv[1:]))" "$@"',
    )
    path = f"{tmp_path}:{os.environ['PATH']}"
    with subprocess.Popen(
        inside, stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": path}
    ) as shell:
        lines = shell.communicate()[0].splitlines()
    assert int(lines[0]) == shell.pid
    arguments = json.loads(lines[1])
    assert arguments[0] == "serve"
    assert arguments[1:] == inside[4:]
    for option in ("--compilation-config", "--additional-config"):
        if option in arguments:
            assert json.loads(arguments[arguments.index(option) + 1])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("NPUS=2,3", "NPUS='2, 3'", "no blanks"),
        ("NPUS=2,3", "NPUS=3,2", "ascend"),
        ("NPUS=2,3", "NPUS=2,2", "ascend"),
        ("CAPTURE_SIZES=1,4", "CAPTURE_SIZES=1,2,4", "at most two"),
        ("CAPTURE_SIZES=1,4", "CAPTURE_SIZES=4,1", "ascend"),
        ("CAPTURE_SIZES=1,4", "", "needs CAPTURE_SIZES"),
        ("CAPTURE_SIZES=1,4", "CAPTURE_SIZES=1,4\nMAX_NUM_SEQS=8", "remove MAX_NUM_SEQS"),
        ("TIER=graph", "TIER=eager", "remove CAPTURE_SIZES"),
        ("TIER=graph", "TIER=fast", "graph or eager"),
        ("MODEL=/models/Qwen3.5-9B", "MODEL=", "does not set MODEL"),
    ],
)
def test_facts_that_contradict_are_refused(
    host: Path, start: Start, old: str, new: str, said: str
) -> None:
    change(host, "9b", old, new)
    done = start("start", "9b")
    assert done.returncode == 1
    assert said in done.stdout
    assert calls_in(host / "calls") == []


def test_an_npu_in_use_and_a_second_start_are_refused(host: Path, start: Start) -> None:
    (host / "ps").write_text("abc\n", encoding="utf-8")
    (host / "inspect").write_text("/27b /dev/davinci0 /dev/davinci1 \n", encoding="utf-8")
    done = start("start", "8b")
    assert (done.returncode, "NPU 0 is in use by the container /27b" in done.stdout) == (1, True)
    done = start("start", "27b")
    assert (done.returncode, "runs already" in done.stdout) == (1, True)
    assert start("start", "9b").returncode == 0


def test_a_key_that_nobody_chose_is_refused(host: Path, start: Start) -> None:
    text = (BACKENDS / "engine.yaml").read_text(encoding="utf-8")
    (host / "etc" / "9b.key.yaml").write_text(text, encoding="utf-8")
    done = start("start", "9b")
    assert (done.returncode, "CHANGE-ME" in done.stdout) == (1, True)


def test_hung_engines_are_started_again_by_who_started_them(host: Path, start: Start) -> None:
    (host / "ps").write_text("9b systemd\n27b docker\n", encoding="utf-8")
    done = start(script=BACKENDS / "restart-unhealthy.sh")
    assert done.returncode == 0, done.stdout
    calls = calls_in(host / "calls")
    assert "health=unhealthy" in calls[0]
    assert ["kill", "9b"] in calls
    assert ["restart", "--time", "5", "27b"] in calls
    assert not any(call[:2] == ["kill", "27b"] for call in calls)
    saved = sorted((host / "evidence").iterdir())
    assert [file.name.partition("-hung-")[0] for file in saved] == ["27b", "9b"]
    assert "last words" in saved[0].read_text(encoding="utf-8")


def test_only_the_newest_last_words_are_kept(host: Path, start: Start) -> None:
    evidence = host / "evidence"
    evidence.mkdir()
    for number in range(30):
        file = evidence / f"9b-hung-{number}.log"
        file.touch()
        os.utime(file, (number, number))
    assert start(script=BACKENDS / "restart-unhealthy.sh").returncode == 0
    assert {file.name for file in evidence.iterdir()} == {
        f"9b-hung-{number}.log" for number in range(10, 30)
    }

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.containers.processes import looks_like_processes, read_processes
from gateway.adoption.findings import Origin

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

JSON = '{"cudagraph_mode": "FULL_DECODE_ONLY", "cudagraph_capture_sizes": [1, 4]}'
SERVE = f"/usr/bin/python3 /usr/local/bin/vllm serve /m --compilation-config {JSON} --port 80"
ARGV = (
    "/usr/bin/python3",
    "/usr/local/bin/vllm",
    "serve",
    "/m",
    "--compilation-config",
    JSON,
    "--port",
    "80",
)


@pytest.mark.parametrize(
    "line",
    [
        f"root       12345   12300  5 10:02 ?        00:01:12 {SERVE}",
        f"root 12345 12300 5 Sep04 pts/0 1-02:01:12 {SERVE}",
        f"root     12345 102  1.5 9999999 123456 pts/0 Sl+  10:02   1:12 {SERVE}",
        f"12345 pts/0    Sl     1:12 {SERVE}",
        f"  12345 ?  00:01:12 {SERVE}",
        f"12345 {SERVE}",
        f"root 12345 12300 5 10:02 ? 00:01:12  \\_ {SERVE}",
        f"root 12345 12300 5 10:02 ? 00:01:12  |   \\_ {SERVE}",
    ],
)
def test_the_forms_of_ps(line: str) -> None:
    assert looks_like_processes(line)
    (launch,) = read_processes(f"other\n{line}\n", "ps.txt").launches
    assert launch.argv == ARGV
    assert launch.origin == Origin("ps.txt", 2)


HEADER = "UID        PID  PPID  C STIME TTY          TIME CMD\n"


def line(command: str) -> str:
    return f"root 12345 12300 5 10:02 ? 00:01:12 {command}\n"


def test_the_shell_around_an_engine_tells_its_variables() -> None:
    variable = "ASCEND_RT_VISIBLE_DEVICES=0,1"
    shell = f"bash -c {variable} vllm serve /m --compilation-config '{JSON}' --port 80"
    for text in (line(shell) + line(SERVE), line(SERVE) + line(shell)):
        (launch,) = read_processes(HEADER + text, "ps").launches
        assert launch.environment == {"ASCEND_RT_VISIBLE_DEVICES": "0,1"}
        assert launch.argv == ("vllm", *ARGV[2:])


def test_two_engines_are_two() -> None:
    text = line("vllm serve /a") + line("python3 -m vllm.entrypoints.openai.api_server --model /b")
    assert len(read_processes(text, "ps").launches) == 2


@pytest.mark.parametrize(
    "command",
    [
        "grep --color=auto vllm serve",
        "VLLM::EngineCore",
        "tail -f vllm serve.log",
        "/usr/bin/python3 -c from multiprocessing.spawn import spawn_main",
        "docker logs vllm serve",
    ],
)
def test_other_processes_are_none(command: str) -> None:
    assert read_processes(line(command), "ps").launches == ()


def test_a_client_of_docker_tells_the_container() -> None:
    (launch,) = read_processes(line("docker exec -it n vllm serve /m"), "ps").launches
    assert launch.container_name == "n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEADER + line("init"), True),
        ("USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n", True),
        ("    PID TTY          TIME CMD\n", True),
        (line("vllm serve /m"), True),
        (line("init"), False),
        ("vllm serve /m --port 80\n", False),
        ("for i in 1 2; do vllm serve /m; done", False),
        ("", False),
    ],
)
def test_what_the_output_of_ps_is(text: str, expected: bool) -> None:
    assert looks_like_processes(text) is expected


def test_json_that_was_cut_off_loses_no_word() -> None:
    (launch,) = read_processes(line('vllm serve /m --x {"a": [1, --port 80'), "ps").launches
    assert launch.argv == ("vllm", "serve", "/m", "--x", '{"a":', "[1,", "--port", "80")


@UNHURRIED
@given(st.text(alphabet="0123 root:.?/\\_vlmserv{}[]\n", max_size=120))
def test_any_text_is_read(text: str) -> None:
    looks_like_processes(text)
    read_processes(text + " vllm serve " + text, "ps")

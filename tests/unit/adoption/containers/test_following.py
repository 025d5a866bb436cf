import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.codes import Code
from gateway.adoption.containers.following import (
    MAX_INNER,
    Written,
    follow_argv,
    follow_container,
    follow_text,
)
from gateway.adoption.containers.transcript import LEAVE
from gateway.adoption.findings import Origin
from gateway.adoption.sources import Container, Launch, Sighting

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def seen(text: str) -> Sighting:
    return follow_text(text, "s.sh").sighting


def one(text: str) -> Launch:
    (launch,) = seen(text).launches
    return launch


def codes(text: str) -> list[Code]:
    return [finding.code for finding in seen(text).findings]


@pytest.mark.parametrize(
    ("text", "line", "name", "host", "log_files"),
    [
        ("vllm serve /m --port 1", 1, "", "", ()),
        ("\nnohup vllm serve /m --port 1 > v.log 2>&1 &", 2, "", "", ("v.log",)),
        ("docker exec -d n vllm serve /m --port 1", 1, "n", "", ()),
        ("docker exec -d n bash -c 'vllm serve /m --port 1 >> /l 2>&1'", 1, "n", "", ("/l",)),
        ("docker exec n sh -lc 'cd / && exec vllm serve /m --port 1'", 1, "n", "", ()),
        ("docker exec n vllm serve /m --port 1 > out.log", 1, "n", "", ("out.log",)),
        ("docker exec n bash -c '\n\nvllm serve /m --port 1'", 3, "n", "", ()),
        ("docker exec -i n bash <<'EOF'\nexport A=1\nvllm serve /m --port 1\nEOF", 3, "n", "", ()),
        ("docker exec -i n bash -s <<EOF\nvllm serve /m --port 1\nEOF", 2, "n", "", ()),
        ("echo 'vllm serve /m --port 1' | docker exec -i n sh", 1, "n", "", ()),
        ("ssh root@n1 'vllm serve /m --port 1'", 1, "", "n1", ()),
        ("ssh n1 nohup vllm serve /m --port 1", 1, "", "n1", ("nohup.out",)),
        ("ssh n1 <<'EOF'\nvllm serve /m --port 1\nEOF", 2, "", "n1", ()),
        ("ssh n1 bash -s <<'EOF'\nvllm serve /m --port 1\nEOF", 2, "", "n1", ()),
        ("ssh n1 \"docker exec -d c bash -c 'vllm serve /m --port 1'\"", 1, "c", "n1", ()),
        ("docker -H tcp://n2:2375 exec c vllm serve /m --port 1", 1, "c", "n2", ()),
        ("kubectl exec deploy/q -- bash -c 'vllm serve /m --port 1'", 1, "q", "", ()),
        ("docker exec -it n bash\nvllm serve /m --port 1", 2, "n", "", ()),
        ("docker run -it --name n i bash\nvllm serve /m --port 1", 2, "n", "", ()),
        ("kubectl exec -it p -- bash\nvllm serve /m --port 1", 2, "p", "", ()),
        ("ssh root@n1\ndocker exec -it c bash\nvllm serve /m --port 1", 3, "c", "n1", ()),
    ],
)
def test_an_engine_is_found_wherever_it_is_started(
    text: str, line: int, name: str, host: str, log_files: tuple[str, ...]
) -> None:
    launch = one(text)
    assert launch.argv == ("vllm", "serve", "/m", "--port", "1")
    assert launch.origin == Origin("s.sh", line)
    assert (launch.container_name, launch.host) == (name, host)
    assert launch.log_files == log_files
    assert launch.container is None


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("docker run -d --name n i vllm serve /m", ("vllm", "serve", "/m")),
        ("docker run -d --name n i bash -c 'vllm serve /m'", ("bash", "-c", "vllm serve /m")),
        ("docker run --name n --entrypoint sh i -c 'vllm serve /m'", ("sh", "-c", "vllm serve /m")),
        ("docker run -i --name n i bash <<EOF\nvllm serve /m\nEOF", ("bash",)),
        ("docker run -i --name n i <<EOF\nvllm serve /m\nEOF", ()),
    ],
)
def test_a_containers_own_command_is_followed(text: str, argv: tuple[str, ...]) -> None:
    sighting = seen(text)
    (launch,), (container,) = sighting.launches, sighting.containers
    assert launch.argv == ("vllm", "serve", "/m")
    assert launch.container is container
    assert (container.name, container.argv, launch.container_name) == ("n", argv, "")


def test_the_variables_of_a_container_reach_its_engine() -> None:
    launch = one("docker run -e A=1 -e B=1 i bash -c 'export B=2; C=$A vllm serve /m'")
    assert launch.environment == {"A": "1", "B": "2", "C": "1"}
    assert launch.container is not None
    assert launch.container.environment == {"A": "1", "B": "1"}


def test_leaving_leads_back() -> None:
    text = (
        f"ssh n1\ndocker exec -it c bash\nvllm serve /a\n{LEAVE}\nvllm serve /b\n{LEAVE}\n"
        f"vllm serve /c\n{LEAVE}\nvllm serve /d\n"
    )
    places = [(one.argv[2], one.container_name, one.host) for one in seen(text).launches]
    assert places == [("/a", "c", "n1"), ("/b", "", "n1"), ("/c", "", ""), ("/d", "", "")]


def test_a_tunnel_is_no_place_to_run_in() -> None:
    assert one("ssh -fN -L 1:localhost:2 h\nvllm serve /m").host == ""


def test_variables_do_not_leak_from_the_host_into_a_container_or_over_ssh() -> None:
    assert one("export A=1\ndocker exec n vllm serve /m").environment == {}
    assert one("export A=1\nssh h vllm serve /m").environment == {}
    assert one("export A=1\ndocker exec -e A n vllm serve /m").environment == {"A": "1"}


def test_the_host_of_a_container_is_its_node() -> None:
    (container,) = seen("ssh n1 'docker run -d --name c vllm bash'").containers
    assert container.node == "n1"


def test_an_unnamed_container_that_is_entered_holds_what_follows() -> None:
    launch = one("docker run -it -p 80:8000 vllm bash\nvllm serve /m")
    assert launch.container is not None
    assert launch.container.image == "vllm"


def test_what_the_image_starts_by_itself_is_assumed_and_told() -> None:
    sighting = seen("docker run vllm/vllm-openai:v1 --model /m --port 1")
    assert sighting.launches[0].argv == ("vllm", "serve", "--model", "/m", "--port", "1")
    (finding,) = sighting.findings
    assert finding.code is Code.ENTRYPOINT_ASSUMED
    assert finding.values == {"container": "vllm/vllm-openai:v1", "entrypoint": "vllm serve"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("M=${M:-/m}\nvllm serve $M", [Code.VARIABLE_DEFAULT]),
        ("X=${X:-/x}\nvllm serve /m", []),
        ("N=${N:-7}\nvllm serve /m --port 8077", []),
        ("N=${N:-7}\nvllm serve /m --port $N", [Code.VARIABLE_DEFAULT]),
        ("vllm serve /m --port $PORT", [Code.VARIABLE_UNSET]),
        ("echo $PORT\nvllm serve /m", []),
        ("docker run redis:$TAG", []),
        ("docker run --device /dev/davinci0 llm:$TAG bash", [Code.VARIABLE_UNSET]),
        ("docker run --env-file .env vllm bash", [Code.ENV_FILE_UNREAD]),
        ("docker run --env-file .env redis", []),
        ("docker run --env-file .env redis vllm serve /m", [Code.ENV_FILE_UNREAD]),
        ("docker exec --env-file .env n vllm serve /m", [Code.ENV_FILE_UNREAD]),
        ("docker exec --env-file .env n ls", []),
        ("source env.sh\nvllm serve /m", [Code.SHELL_NOT_FOLLOWED]),
        ("vllm serve /m\nbash after.sh", []),
        ("bash start.sh", [Code.SHELL_NOT_FOLLOWED]),
        ("docker run --device /dev/davinci0 i bash /start.sh", [Code.SHELL_NOT_FOLLOWED]),
        ("docker run redis bash /start.sh", []),
        ("vllm serve /m \\ \n--port 1", [Code.BLANK_AFTER_BACKSLASH, Code.LINE_NOT_CONTINUED]),
        ("ls \\ \n--port 1\nvllm bench\necho", []),
        ("vllm serve 'open", [Code.QUOTE_UNCLOSED]),
        ("it's only prose", []),
    ],
)
def test_findings_are_kept_where_they_concern_an_engine(text: str, found: list[Code]) -> None:
    assert sorted(codes(text)) == sorted(found)


def test_texts_for_files_and_programs_are_handed_out() -> None:
    followed = follow_text("cat > a.sh <<'E'\nx\nE\nkubectl apply -f - <<E\ny\nE\n", "s.sh")
    assert followed.written == (Written("x\n", 2), Written("y\n", 5))
    assert followed.sighting == Sighting()


@pytest.mark.parametrize(
    ("text", "image", "argv", "environment"),
    [
        ("docker run -e A=$X -e B=1 $IMAGE bash", "", ("bash",), {"B": "1"}),
        ("docker run -e A=$X i vllm serve /m", "i", ("vllm", "serve", "/m"), {}),
        ("docker run -e A= bash", "bash", (), {"A": ""}),
    ],
)
def test_what_has_no_value_gives_nothing_to_a_container(
    text: str, image: str, argv: tuple[str, ...], environment: dict[str, str]
) -> None:
    (container,) = seen(text).containers
    assert (container.image, container.argv) == (image, argv)
    assert container.environment == environment


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("docker exec -d $CID bash -c 'vllm serve /m'", "$CID"),
        ("docker exec $(docker ps -qf name=x) vllm serve /m", "$(docker ps -qf name=x)"),
        ("docker exec -e A=$X n vllm serve /m", "n"),
        ("C=n; docker exec $C vllm serve /m", "n"),
    ],
)
def test_a_container_whose_name_is_not_known_is_one(command: str, name: str) -> None:
    assert one(command).container_name == name
    assert one(command).environment == {}


def test_a_command_of_known_words_is_followed() -> None:
    origin = Origin("u.service", 7)
    argv = ("/usr/bin/docker", "run", "--name", "n", "i", "vllm", "serve", "/a b", "$X")
    followed = follow_argv(argv, origin, {"A": "1"}, ("/var/log/x",))
    (launch,) = followed.sighting.launches
    assert launch.argv == ("vllm", "serve", "/a b", "$X")
    assert (launch.origin, launch.log_files) == (origin, ("/var/log/x",))


def test_the_line_of_a_script_within_a_containers_command() -> None:
    container = Container(Origin("c.yaml", 3), "n", argv=("bash", "-c", "a\nvllm serve /m"))
    sighting = follow_container(container, 10)
    assert sighting.launches[0].origin == Origin("c.yaml", 11)
    assert sighting.containers[0].origin == Origin("c.yaml", 3)


def test_a_script_can_take_the_place_of_the_command() -> None:
    container = Container(Origin("k.yaml", 3), "n", "vllm", argv=("/s.sh", "--model", "/m"))
    sighting = follow_container(container, 0, ("bash", "-c", "vllm serve $1", "/s.sh", "/x"))
    assert sighting.launches[0].argv == ("vllm", "serve", "/x")
    assert sighting.findings == ()


def test_what_nests_without_end_is_stopped() -> None:
    command = "vllm serve /m"
    for _ in range(8):
        command = "docker exec n " + command
    assert seen(command).launches == ()
    assert codes(command) == [Code.SHELL_TOO_MUCH]
    many = "docker exec n vllm serve /m\n" * (MAX_INNER + 50)
    assert len(seen(many).launches) == MAX_INNER
    assert codes(many) == [Code.SHELL_TOO_MUCH]


@UNHURRIED
@given(
    st.lists(
        st.sampled_from(
            [
                "docker",
                "run",
                "exec",
                "-it",
                "ssh",
                "h",
                "bash",
                "-c",
                "'",
                '"',
                "<<E",
                "\nE\n",
                "vllm",
                "serve",
                "|",
                ";",
                "$X",
                "kubectl",
                "--",
                "cat >f",
            ]
        ),
        max_size=30,
    )
)
def test_any_commands_are_followed(words: list[str]) -> None:
    seen(" ".join(words))

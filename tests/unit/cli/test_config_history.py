"""The commands config diff, history and rollback against the routes, and diff of two files."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from gateway.api.control import Applied, Entry, Preview
from gateway.cli.config import config
from tests.unit.api.test_admin_config import ENTRIES, LOSES, WRONG, FakeControl
from tests.unit.cli.running import run, running

IN_FORCE = "aaaaaaaaaaaa"  # as `site` has it
BACK = Applied("applied", "bbbbbbbbbbbb", "admin ops", (LOSES,))
OLD = """version: 1
backends: [{name: a, url: "http://h:1", served_name: q, max_num_seqs: 8}]
models: [{name: m, backends: [a]}]
"""
NEW = OLD.replace("max_num_seqs: 8", "max_num_seqs: 4")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "new.yaml"
    path.write_text(NEW, encoding="utf-8")
    return path


class Same(FakeControl):
    """Every file means what is in force already."""

    async def preview(self, text: str, file: str) -> Preview:
        return Preview(IN_FORCE, (), (), is_usable=True)


class Broken(FakeControl):
    """No file can be used."""

    async def preview(self, text: str, file: str) -> Preview:
        return Preview("dddddddddddd", (), WRONG, is_usable=False)


class Alone(FakeControl):
    """Nothing but what is in force was ever there."""

    async def history(self) -> tuple[Entry, ...]:
        return ENTRIES[:1]


def test_diff_against_a_gateway(file: Path) -> None:
    control = FakeControl()
    with running(control) as port:
        done = run(config, ["diff", str(file)], port)
        status = run(config, ["diff", str(file), "--exit-code"], port)
        chinese = run(config, ["diff", str(file), "--lang", "zh"], port)
    assert done.exit_code == 0
    assert done.stdout == (
        f"{file} (version cccccccccccc) instead of version {IN_FORCE}, which is in force at "
        f"http://127.0.0.1:{port}:\n  - m loses backend 27b-a\n"
    )
    assert status.exit_code == 3
    assert "  - m 失去后端 27b-a" in chinese.stdout
    assert control.asked[0] == ("preview", NEW, str(file))


def test_diff_of_what_is_in_force(file: Path) -> None:
    with running(Same()) as port:
        assert run(config, ["diff", str(file), "--exit-code"], port).exit_code == 0


@pytest.mark.parametrize("words", [[], ["--exit-code"], ["--json"]])
def test_diff_of_a_file_with_errors(file: Path, words: list[str]) -> None:
    with running(Broken()) as port:
        done = run(config, ["diff", str(file), *words], port)
    assert done.exit_code == 1
    if "--json" in words:
        assert len(json.loads(done.stdout)["problems"]) == len(WRONG)
    else:
        rendered = "\n".join(problem.render() for problem in WRONG)
        assert done.stdout == f"{rendered}\n{file}: not usable\n"


def test_bytes_that_are_no_text_are_not_sent(file: Path) -> None:
    file.write_bytes(b"version: 1\n# \xff\n")
    control = FakeControl()
    with running(control) as port:
        done = run(config, ["diff", str(file)], port)
    assert done.exit_code == 1
    assert f"{file}:2: error: " in done.stdout
    assert not control.asked


@pytest.mark.parametrize("other", [[], ["OTHER"]])
def test_diff_of_a_file_that_can_not_be_read(tmp_path: Path, other: list[str]) -> None:
    missing = str(tmp_path / "nothing")
    with running(FakeControl()) as port:
        done = run(config, ["diff", missing, *other], port)
    assert done.exit_code == 2
    assert done.stderr == f"{missing}: can't be read: No such file or directory\n"


def test_diff_of_a_file_that_is_too_large(file: Path) -> None:
    file.write_text(NEW + "#" * 2**20)
    with running(FakeControl()) as port:
        done = run(config, ["diff", str(file)], port)
    assert done.exit_code == 2
    assert "it answered 413" in done.stderr


def test_diff_of_two_files_asks_nobody(file: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    old.write_text(OLD)
    done = run(config, ["diff", str(old), str(file)])
    assert done.exit_code == 0
    head, change = done.stdout.splitlines()
    assert head.startswith(f"{file} (version ")
    assert f" instead of {old} (version " in head
    assert change == "  - backend a: max_num_seqs 8 -> 4"
    assert run(config, ["diff", str(old), str(file), "--exit-code"]).exit_code == 3
    same = run(config, ["diff", str(old), str(old), "--exit-code", "--lang", "zh"])
    assert (same.exit_code, same.stdout.splitlines()[1]) == (0, "  - 没有任何变化")
    tree = json.loads(run(config, ["diff", str(old), str(file), "--json"]).stdout)
    assert (tree["is_usable"], len(tree["changes"])) == (True, 1)
    assert set(tree["changes"][0]) == {"en", "zh"}


@pytest.mark.parametrize("is_old", [True, False])
def test_diff_of_two_files_of_which_one_has_errors(
    file: Path, tmp_path: Path, is_old: bool
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(OLD.replace("backends: [a]", "backends: [b]"))
    files = [str(bad), str(file)] if is_old else [str(file), str(bad)]
    done = run(config, ["diff", *files])
    assert done.exit_code == 1
    assert "unknown_backend" in done.stdout
    assert done.stdout.endswith(f"{bad}: not usable\n")


def test_history() -> None:
    with running(FakeControl()) as port:
        done = run(config, ["history"], port)
        chinese = run(config, ["history", "--lang", "zh"], port)
        tree = json.loads(run(config, ["history", "--json"], port).stdout)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["number", "version", "when", "bytes", "who"]
    assert [line.split()[:2] for line in lines[1:]] == [
        ["1", IN_FORCE],
        ["2", "bbbbbbbbbbbb"],
        ["3", IN_FORCE],
    ]
    assert [line.endswith("in force") for line in lines[1:]] == [False, False, True]
    local = datetime.fromtimestamp(ENTRIES[1].when_s).strftime("%Y-%m-%d %H:%M:%S")
    assert f"{local}  11     admin ops" in lines[2]
    assert chinese.stdout.splitlines()[-1].endswith("生效中")
    assert [entry["number"] for entry in tree["entries"]] == [1, 2, 3]


@pytest.mark.parametrize("key", [IN_FORCE, "2", "#2"])
def test_the_text_of_a_version(key: str) -> None:
    with running(FakeControl()) as port:
        done = run(config, ["history", key], port)
        tree = json.loads(run(config, ["history", key, "--json"], port).stdout)
    assert (done.exit_code, done.stdout) == (0, "# 注释\nversion: 1\n")
    assert tree == {"text": done.stdout}


@pytest.mark.parametrize("command", ["history", "rollback"])
def test_a_version_that_is_not_kept(command: str) -> None:
    with running(FakeControl()) as port:
        done = run(config, [command, "ffffffffffff"], port)
        chinese = run(config, [command, "ffffffffffff", "--lang", "zh"], port)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "'ffffffffffff' is not kept" in done.stderr
    assert "没有保存版本" in chinese.stderr


@pytest.mark.parametrize("command", ["history", "rollback"])
@pytest.mark.parametrize("key", ["", "a/b", "..", "x" * 65, "版本"])
def test_what_is_no_version(command: str, key: str) -> None:
    done = run(config, [command, key])
    assert done.exit_code == 2
    assert "a number of the history" in done.stderr


@pytest.mark.parametrize(
    ("words", "stdin", "status", "version"),
    [
        (["--yes"], None, 0, "bbbbbbbbbbbb"),
        ([], "y\n", 0, "bbbbbbbbbbbb"),
        (["2"], "y\n", 0, "2"),
        (["2", "--yes", "--json"], None, 0, "2"),
        ([], "n\n", 1, None),
        ([], "", 1, None),
    ],
)
def test_rollback(words: list[str], stdin: str | None, status: int, version: str | None) -> None:
    class Kept(FakeControl):
        async def text_of(self, version: str) -> str | None:
            return OLD

    control = Kept(BACK)
    with running(control) as port:
        done = run(config, ["rollback", *words], port, stdin=stdin)
    assert done.exit_code == status
    asked = [call for call in control.asked if call[0] == "rollback"]
    expected = [] if version is None else [("rollback", version, "admin anonymous")]
    assert asked == expected
    if "--json" in words:
        assert json.loads(done.stdout)["result"] == "applied"
        return
    assert done.stdout.startswith(
        f"Back from version {IN_FORCE} to version cccccccccccc:\n  - m loses backend 27b-a\n"
    )
    assert ("Version bbbbbbbbbbbb is in force now." in done.stdout) == (status == 0)


def test_rollback_to_what_is_in_force_writes_the_file_again() -> None:
    control = Same(Applied("unchanged", IN_FORCE, "admin ops"))
    with running(control) as port:
        done = run(config, ["rollback", IN_FORCE, "--yes"], port)
    assert done.exit_code == 0
    assert "only the file on disk will be written again" in done.stdout
    assert ("rollback", IN_FORCE, "admin anonymous") in control.asked


def test_rollback_to_a_file_that_can_not_be_used_any_more() -> None:
    control = Broken(BACK)
    with running(control) as port:
        done = run(config, ["rollback", "2", "--yes"], port)
    assert done.exit_code == 1
    assert WRONG[0].render() in done.stdout
    assert "can't be used any more" in done.stderr
    assert "rollback" not in [call[0] for call in control.asked]


def test_a_refused_rollback() -> None:
    with running(FakeControl(Applied("refused", IN_FORCE, "x", problems=WRONG))) as port:
        done = run(config, ["rollback", "2", "--yes"], port)
    assert done.exit_code == 1
    assert "Refused, with errors: 2." in done.stdout


def test_there_is_nothing_to_go_back_to() -> None:
    with running(Alone(BACK)) as port:
        done = run(config, ["rollback"], port)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "nothing to go back to" in done.stderr


def test_json_does_not_ask() -> None:
    done = run(config, ["rollback", "--json"])
    assert done.exit_code == 2
    assert "--yes" in done.stderr

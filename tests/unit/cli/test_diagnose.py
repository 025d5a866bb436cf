"""The command that explains logs: encodings, languages, forms, exit status."""

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli.diagnose import diagnose, encoding_of, lines_of
from gateway.diagnosis.match import MAX_READ

LOGS = Path(__file__).parents[1] / "diagnosis" / "logs"
DOCS = Path(__file__).parents[3] / "docs"
DEAD = "ERROR EngineDeadError: EngineCore encountered an issue."
OUT_OF_MEMORY = "RuntimeError: NPU out of memory. Tried to allocate 2.57 GiB"
HARMLESS = "rtMemcpy:ErrCode=107030, desc=[the current capture mode does not support this]"
HINT = "WARNING Truncating max_cudagraph_capture_size to 8"


def run(*arguments: str, text: str | bytes = "", **environment: str) -> Result:
    locale = {"LC_ALL": "", "LC_MESSAGES": "", "LANG": ""} | environment
    return CliRunner().invoke(diagnose, arguments, input=text, env=locale)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", 0),
        ("INFO all is well\n", 0),
        (HARMLESS, 0),
        (HINT, 1),
        (DEAD, 1),
        (f"{HARMLESS}\n{DEAD}", 1),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_exit_status(text: str, status: int, form: str) -> None:
    result = run("-", "--format", form, text=text)
    assert result.exit_code == status, result.output


@pytest.mark.parametrize(
    ("name", "reason"), [("nothing.log", "No such file or directory"), ("", "Is a directory")]
)
def test_what_can_not_be_read(tmp_path: Path, name: str, reason: str) -> None:
    result = run(str(tmp_path / name))
    assert result.exit_code == 2
    assert result.stderr == f"{tmp_path / name}: can't be read: {reason}\n"
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [[], ["-", "--language", "fr"], ["-", "--format", "xml"]])
def test_wrong_arguments(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_finding_in_words() -> None:
    result = run("-", text=f"fine\n{OUT_OF_MEMORY}\nfine\n{OUT_OF_MEMORY}\n")
    head, cause, remedy, line = result.output.splitlines()
    assert head == "chip_out_of_memory (torch_npu): the engine dies; start it again"
    assert cause.startswith("  cause: The chip ran out of memory")
    assert remedy.startswith("  remedy: Lower --gpu-memory-utilization")
    assert line == f"  -:2 (on 2 lines): {OUT_OF_MEMORY}"


def test_a_finding_in_chinese() -> None:
    result = run("-", "--language", "zh", text=f"{OUT_OF_MEMORY}\n{OUT_OF_MEMORY}\n")
    head, cause, remedy, line = result.output.splitlines()
    assert head == "chip_out_of_memory（torch_npu）：引擎崩溃，需要重启服务"
    assert cause.startswith("  原因：芯片显存不足")
    assert remedy.startswith("  处理：调低")
    assert line == f"  -:1（共 2 行）: {OUT_OF_MEMORY}"


def test_causes_come_before_fallout_which_is_marked() -> None:
    output = run("-", text=f"{DEAD}\n{OUT_OF_MEMORY}\n").output
    heads = [part.splitlines()[0] for part in output.split("\n\n")]
    assert [head.split(" ")[0] for head in heads] == ["chip_out_of_memory", "engine_dead"]
    assert ["fallout" in head for head in heads] == [False, True]
    assert "Only fallout" not in output


@pytest.mark.parametrize(
    ("language", "told"), [("en", "Only fallout was found"), ("zh", "只找到连带错误")]
)
def test_it_says_when_the_cause_is_not_there(language: str, told: str) -> None:
    assert told in run("-", "--language", language, text=DEAD).output.splitlines()[-1]


@pytest.mark.parametrize(
    ("environment", "is_chinese"),
    [
        ({}, False),
        ({"LANG": "zh_CN.UTF-8"}, True),
        ({"LANG": "en_GB.UTF-8"}, False),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, False),
        ({"LC_ALL": "zh_TW", "LANG": "C"}, True),
        ({"LC_MESSAGES": "zh_CN", "LANG": "C"}, True),
    ],
)
def test_language_of_the_locale(environment: dict[str, str], is_chinese: bool) -> None:
    output = run("-", text="fine", **environment).output
    assert output == (
        "-：没有已知错误；读取行数：1\n" if is_chinese else "-: no known error; lines read: 1\n"
    )


def test_json() -> None:
    report = json.loads(run("-", "--format", "json", text=f"{DEAD}\n{HINT}\n{DEAD}\n").output)
    assert (report["file"], report["lines"]) == ("-", 3)
    hint, dead = report["findings"]
    assert hint["id"] == "capture_sizes_truncated"
    assert {key: dead[key] for key in dead if key not in ("cause", "remedy")} == {
        "id": "engine_dead",
        "scope": "engine",
        "layer": "vLLM",
        "fallout": True,
        "capture": False,
        "line_number": 1,
        "line": DEAD,
        "count": 2,
    }
    assert dead["cause"].startswith("The API server noticed")


def test_json_without_findings_and_in_chinese() -> None:
    assert json.loads(run("-", "--format", "json").output)["findings"] == []
    chinese = run("-", "--format", "json", "--language", "zh", text=DEAD)
    assert "引擎已死" in chinese.output


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_a_log_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "log"
    file.write_bytes(f"启动失败\n麒麟桌面版 {OUT_OF_MEMORY}\n".encode(encoding))
    result = run(str(file))
    assert f"{file}:2: 麒麟桌面版 {OUT_OF_MEMORY}" in result.output


def test_bytes_of_no_encoding_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"\xff\xff\x00\n" + b"a" * 70_000 + b"\n\xfe " + DEAD.encode())
    result = run(str(file))
    assert result.exit_code == 1
    assert f"{file}:3: \ufffd {DEAD}" in result.output


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (b"", "utf-8-sig"),
        (b"plain", "utf-8-sig"),
        ("麒".encode()[:2], "utf-8-sig"),
        ("麒麟".encode("gb18030"), "gb18030"),
        (b"\xff\xff", "utf-8"),
        (b"\xff\xfea\x00", "utf-16"),
    ],
)
def test_encoding(head: bytes, encoding: str) -> None:
    assert encoding_of(head) == encoding


class Trickle(io.BytesIO):
    """A pipe that hands out three bytes at a time."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(3)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\nb", ["a", "", "b"]),
        ("麒麟\r\n麟", ["麒麟\r", "麟"]),
    ],
)
def test_lines(content: str, lines: list[str]) -> None:
    assert list(lines_of(io.BytesIO(content.encode()))) == lines
    assert list(lines_of(Trickle(content.encode()))) == lines


def test_a_character_that_was_cut_off_is_replaced() -> None:
    assert list(lines_of(io.BytesIO(b"a\xe9\xba"))) == ["a\ufffd"]


def test_of_an_endless_line_only_the_beginning_is_kept() -> None:
    endless = b"x" * (3 * MAX_READ)
    lines = list(lines_of(io.BytesIO(b"a\n" + endless + b"\nb\n" + endless)))
    assert [line[:1] for line in lines] == ["a", "x", "b", "x"]
    assert all(len(line) < 2 * MAX_READ for line in lines)


@pytest.mark.parametrize("log", sorted(LOGS.glob("*.log")), ids=lambda log: log.name)
def test_logs_in_both_languages(log: Path) -> None:
    english, chinese = (run(str(log), "--language", language) for language in ("en", "zh"))
    assert english.exit_code == chinese.exit_code == (log.name != "clean_start.log")
    assert english.output.count("\n\n") == chinese.output.count("\n\n")


@pytest.mark.parametrize(("language", "page"), [("en", "diagnose.md"), ("zh", "zh/diagnose.md")])
def test_the_example_in_the_documents_is_real(
    language: str, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("server.log").write_bytes((LOGS / "spec_decode_310p.log").read_bytes())
    output = run("server.log", "--language", language).output
    assert f"```\n{output}```" in (DOCS / page).read_text(encoding="utf-8")

import json

import pytest

from gateway.adoption.engine.log_lines import Line, read_lines

STAMP = "2026-06-14T10:02:11.123456789Z"


def docker(*pieces: str) -> str:
    return "".join(json.dumps({"log": piece, "stream": "stderr"}) + "\n" for piece in pieces)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a\n\nb", [Line(1, "a"), Line(3, "b")]),
        ("a\r\nb\r\n", [Line(1, "a"), Line(2, "b")]),
        ("bar 1\rbar 2\nend", [Line(1, "bar 1"), Line(1, "bar 2"), Line(2, "end")]),
        ("\x1b[32mINFO\x1b[0m x", [Line(1, "INFO x")]),
        ("#033[97;1mINFO#033[0m x", [Line(1, "INFO x")]),
        (docker("a █\n", "b\n"), [Line(1, "a █"), Line(2, "b")]),
        (docker("long ", "line", "\n", "b\n"), [Line(3, "long line"), Line(4, "b")]),
        (docker("cut off"), [Line(2, "cut off")]),
        ('{"MESSAGE": "a", "_PID": "1"}\n{"msg": "b"}', [Line(1, "a"), Line(2, "b")]),
        ('{"level": "info"}', [Line(1, '{"level": "info"}')]),
        ('{"log": 3}\n{broken', [Line(1, '{"log": 3}'), Line(2, "{broken")]),
        (
            f"{STAMP} stderr P long \n{STAMP} stderr F line\n",
            [Line(2, "long line")],
        ),
        ("2026-06-14T10:02:11Z INFO x", [Line(1, "2026-06-14T10:02:11Z INFO x")]),
    ],
)
def test_messages(text: str, lines: list[Line]) -> None:
    assert list(read_lines(text)) == lines


def test_lines_and_logs_without_end_are_bounded() -> None:
    pieces = docker(*["x" * 10_000] * 100)
    assert [len(line.text) for line in read_lines(pieces)] == [262_144]
    assert [len(line.text) for line in read_lines("x" * 1_000_000)] == [262_144]


def test_of_a_log_that_is_too_large_the_end_is_read() -> None:
    text = ("x" * 99 + "\n") * 700_000
    lines = list(read_lines(text + "the end"))
    assert lines[0].number > 1
    assert lines[0].text == "x" * 99
    assert lines[-1] == Line(700_001, "the end")

"""Lines as servers write them, and which known error each one shows."""

import sys
from pathlib import Path

import pytest

from gateway.diagnosis import match
from gateway.diagnosis.match import MAX_READ, MAX_SHOWN, Finding, Matcher, find, find_in, first
from gateway.diagnosis.signatures import SIGNATURES

LOGS = Path(__file__).parent / "logs"

# An id and a line that shows the error, a pair in each line of the file.
LINES = tuple(
    pair.split(" | ", 1)
    for pair in (LOGS / "each_error.txt").read_text(encoding="utf-8").splitlines()
)


def ids(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.signature.id for finding in findings]


def read(name: str) -> str:
    return (LOGS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("signature_id", "line"), LINES)
def test_each_line_shows_its_error_and_no_other(signature_id: str, line: str) -> None:
    assert ids(find(line)) == [signature_id]


@pytest.mark.parametrize(("signature_id", "line"), LINES)
def test_case_does_not_matter(signature_id: str, line: str) -> None:
    assert ids(find(line.upper())) == [signature_id]


def test_every_error_has_a_line() -> None:
    assert {signature.id for signature in SIGNATURES} == {signature_id for signature_id, _ in LINES}


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Operation not permitted",
        "set_mempolicy: Operation not permitted",
        'INFO:     10.0.0.7:5 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error',
        "[W614 10:02:30.507014299 NPUStream.cpp:716] Warning: Driver Version is not supported yet.",
        "(Worker_TP0 pid=207008) GPU KV cache size: 107030 tokens",
        "Available KV cache memory: 7.93 GiB",
        "the model of that name does not exist",
        "The model is here. The file `x` does not exist",
        "Free memory on device (40.1/43.2 GiB) on startup. Desired GPU memory utilization is (0.6",
        "the number of visible devices is 4",
    ],
)
def test_lines_that_show_nothing(line: str) -> None:
    assert find(line) == ()
    assert first(line) is None


@pytest.mark.parametrize(
    ("name", "causes", "fallout"),
    [
        ("clean_start.log", [], []),
        (
            "kylin_desktop.log",
            ["capture_host_copy", "capture_stream_unknown"],
            ["capture_wrapped", "startup_failed"],
        ),
        (
            "spec_decode_310p.log",
            ["attention_not_on_310p", "model_unknown"],
            ["engine_fatal", "engine_dead"],
        ),
        (
            "port_conflict.log",
            ["hccl_port_taken", "vector_core_timeout"],
            ["worker_gone", "startup_failed"],
        ),
        (
            "core_exception.log",
            ["core_exception"],
            ["worker_gone", "worker_hung", "workers_busy", "hccl_watchdog", "engine_fatal"],
        ),
    ],
)
def test_logs(name: str, causes: list[str], fallout: list[str]) -> None:
    findings = find(read(name))
    assert ids(findings) == causes + fallout
    assert [finding.is_fallout for finding in findings] == [False] * len(causes) + [True] * len(
        fallout
    )


def test_line_number_line_and_count_of_the_first_appearance() -> None:
    (cause, *_) = find(read("core_exception.log"))
    assert (cause.line_number, cause.count) == (4, 4)
    assert cause.line == read("core_exception.log").splitlines()[3]


def test_a_symptom_is_no_fallout_as_long_as_nothing_explains_it() -> None:
    (alone,) = find("TimeoutError: RPC call to execute_model timed out.")
    assert not alone.is_fallout
    explained = find(
        "TimeoutError: RPC call to execute_model timed out.\nThe aicore execution times out."
    )
    assert [(f.signature.id, f.is_fallout) for f in explained] == [
        ("aicore_timeout", False),
        ("worker_hung", True),
    ]


def test_a_request_that_failed_explains_no_symptom() -> None:
    findings = find("The model `x` does not exist.\nRPC call to execute_model timed out")
    assert [finding.is_fallout for finding in findings] == [False, False]


def test_a_wrapper_is_fallout_even_if_its_cause_is_not_known() -> None:
    (finding,) = find("EngineCore encountered a fatal error.")
    assert finding.is_fallout


def test_speculation_while_capturing_is_the_cause_of_what_follows() -> None:
    text = """NPUModelRunner init failed, error is NPUModelRunner failed, error is copy_between_host
 NPU function error: aclrtMemcpy, error code is 107030
 Not allow to synchronize captured-stream, stream_id=12.
 rtMemcpy execution failed, reason=the current capture mode does not support this operation
 an error has invalidated the stream capture sequence"""
    findings = find(text)
    assert [(f.signature.id, f.is_fallout) for f in findings] == [
        ("capture_synchronised", False),
        ("capture_copy_refused", True),
        ("capture_invalidated", True),
        ("capture_wrapped", True),
    ]


def test_general_words_of_the_driver_yield_to_the_exact_ones() -> None:
    text = "Failed to apply for memory.\nAlloc sq cq fail\nruntime result = 207005"
    assert ids(find(text)) == ["capture_old_driver"]


@pytest.mark.parametrize(
    ("message", "signature_id"),
    [
        ("EngineCore encountered an issue. See stack trace (above)", "engine_dead"),
        ("EngineDeadError: caused by error code is 507035", "core_exception"),
        ("The model `x` does not exist.", "model_unknown"),
        ("NPUModelRunner failed, error is x, error code is 207008", "capture_streams_exhausted"),
    ],
)
def test_first_says_most(message: str, signature_id: str) -> None:
    finding = first(message)
    assert finding is not None
    assert finding.signature.id == signature_id


def test_crash_and_capture() -> None:
    crash, capture = first("error code is 507018"), first("Alloc sq cq fail")
    assert crash is not None
    assert capture is not None
    assert (crash.signature.is_crash, crash.signature.is_capture) == (True, False)
    assert (capture.signature.is_crash, capture.signature.is_capture) == (False, True)


def test_the_line_is_shown_without_colours_and_control_characters() -> None:
    (finding,) = find("\x1b[0;36m(APIServer pid=1)\x1b[0;0m \x07EngineDeadError\x9b\r")
    assert finding.line == "(APIServer pid=1)  EngineDeadError"


@pytest.mark.parametrize("before", [0, 150, 199, 200, 201, 290, 1000, 100_000])
def test_a_long_line_is_cut_to_where_the_error_stands(before: int) -> None:
    (finding,) = find("x" * before + "EngineDeadError" + "y" * 5000)
    assert len(finding.line) == MAX_SHOWN
    assert "EngineDeadError" in finding.line
    assert finding.line.endswith("…")


def test_line_ends_and_the_way_of_feeding_do_not_matter() -> None:
    text = read("kylin_desktop.log")
    matcher = Matcher()
    for line in text.splitlines(keepends=True):
        matcher.feed(line)
    assert matcher.findings() == find(text) == find(text.replace("\n", "\r\n"))
    assert matcher.findings() == find_in(iter(text.splitlines()))
    assert matcher.lines == len(text.splitlines())


def test_findings_may_be_asked_for_in_between() -> None:
    matcher = Matcher()
    assert matcher.findings() == ()
    matcher.feed("EngineDeadError")
    before = matcher.findings()
    matcher.feed("EngineDeadError")
    assert (before[0].count, matcher.findings()[0].count) == (1, 2)


def test_it_shows_its_state() -> None:
    matcher = Matcher()
    matcher.feed("nothing")
    matcher.feed("EngineDeadError")
    assert repr(matcher) == "<Matcher lines=2 found=['engine_dead']>"


def test_what_stands_far_out_in_an_endless_line_is_not_read() -> None:
    assert find("x" * MAX_READ + "EngineDeadError") == ()
    assert ids(find("x" * (MAX_READ - 15) + "EngineDeadError")) == ["engine_dead"]


def calls_for(lines: list[str]) -> int:
    """How many functions are called, of Python and of C, to look through the lines."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    matcher = Matcher()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for line in lines:
            matcher.feed(line)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("name", ["clean_start.log", "core_exception.log"])
def test_work_grows_with_the_lines_and_not_faster(name: str) -> None:
    lines = read(name).splitlines()
    first_time, twice, much = (calls_for(lines * times) for times in (1, 2, 101))
    assert much - first_time == 100 * (twice - first_time)


def test_a_line_without_an_error_costs_next_to_nothing() -> None:
    line = read("clean_start.log").splitlines()[-1]
    assert calls_for([line] * 100) - calls_for([line] * 99) <= 4


def test_memory_does_not_grow_with_the_log() -> None:
    matcher = Matcher()
    for number in range(20_000):
        matcher.feed(f"{number} EngineDeadError {number}")
    (finding,) = matcher.findings()
    assert (finding.count, finding.line) == (20_000, "0 EngineDeadError 0")
    assert len(repr(matcher)) < 100


@pytest.mark.parametrize(
    "line",
    [
        "the model `" * 50_000,
        "the model `" + "a" * 500_000 + "does not exist",
        "internal server error " * 30_000,
        "\x1b[" * 100_000 + "EngineDeadError",
        "error code is " * 50_000,
    ],
    ids=["openings", "long name", "no quotes", "broken colours", "no code"],
)
def test_hostile_lines_end(line: str) -> None:
    """A pattern that tries again and again would run into the time limit of the tests."""
    find(line)


def test_the_quick_check_lets_through_whatever_shows_an_error() -> None:
    for signature in SIGNATURES:
        for needle in signature.needles:
            assert match.find(f"a {needle} b"), needle

"""Counters, log lines and the thread that writes them."""

import io
import json
import threading

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from gateway.observe.counters import Counters, Histograms
from gateway.observe.lines import LineWriter
from gateway.observe.logs import Log


def samples(registry: CollectorRegistry) -> dict[tuple[str, tuple[str, ...]], float]:
    text = generate_latest(registry).decode()
    return {
        (s.name, tuple(s.labels.values())): s.value
        for family in text_string_to_metric_families(text)
        for s in family.samples
    }


def test_counters_count_by_label() -> None:
    counters = Counters("things", "Things.", ["kind"])
    registry = CollectorRegistry()
    registry.register(counters)
    for kind in ("a", "b", "a"):
        counters.add(kind)
    found = samples(registry)
    assert found[("things_total", ("a",))] == 2
    assert found[("things_total", ("b",))] == 1


def test_histograms_cumulate() -> None:
    histogram = Histograms("wait_seconds", "Waits.", ["model"], [0.1, 1.0])
    registry = CollectorRegistry()
    registry.register(histogram)
    for seconds in (0.05, 0.1, 0.5, 7.0):
        histogram.observe(seconds, "m")
    found = samples(registry)
    assert found[("wait_seconds_bucket", ("0.1", "m"))] == 2
    assert found[("wait_seconds_bucket", ("1.0", "m"))] == 3
    assert found[("wait_seconds_bucket", ("+Inf", "m"))] == 4
    assert found[("wait_seconds_count", ("m",))] == 4
    assert found[("wait_seconds_sum", ("m",))] == pytest.approx(7.65)


class Kept:
    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def write(self, line: bytes) -> None:
        self.lines.append(line)

    def close(self) -> None: ...


def test_json_lines_are_one_object_each_with_readable_names() -> None:
    kept = Kept()
    Log(kept, lambda: 0.0).access({"model": "通义千问", "error": 'line\nbreak "q"'})
    (line,) = kept.lines
    assert b"\n" not in line
    assert "通义千问".encode() in line
    record = json.loads(line)
    assert record["time"] == "1970-01-01T00:00:00.000+00:00"
    assert (record["event"], record["error"]) == ("request", 'line\nbreak "q"')


def test_a_lone_surrogate_is_escaped() -> None:
    kept = Kept()
    Log(kept, lambda: 0.0).access({"model": "\ud800"})
    Log(kept, lambda: 0.0, form="text").access({"model": "\ud800"})
    assert json.loads(kept.lines[0])["model"] == "\ud800"
    assert b"ud800" in kept.lines[1]


def test_text_lines_quote_what_needs_it() -> None:
    kept = Kept()
    Log(kept, lambda: 0.0, form="text").access({"a": "x", "b": "x y", "c": None, "d": 0.12345})
    (line,) = kept.lines
    assert line.endswith(b'request a=x b="x y" d=0.123')


@pytest.mark.parametrize(
    ("least", "written"),
    [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)],
)
def test_levels(least: str, written: int) -> None:
    kept = Kept()
    log = Log(kept, lambda: 0.0, level=least)  # type: ignore[arg-type]
    for level in ("debug", "info", "warning", "error"):
        log.event(level, "happened")  # type: ignore[arg-type]
    assert len(kept.lines) == written


def test_closing_the_log_writes_the_last_lines() -> None:
    out = io.BytesIO()
    log = Log(LineWriter(out), lambda: 0.0)
    log.event("info", "last_words")
    log.close()
    assert b"last_words" in out.getvalue()


def test_access_lines_can_be_switched_off() -> None:
    kept = Kept()
    Log(kept, lambda: 0.0, is_access_on=False).access({"a": 1})
    assert kept.lines == []


def test_the_writer_keeps_the_order_and_writes_all_at_the_end() -> None:
    out = io.BytesIO()
    writer = LineWriter(out)
    for number in range(1000):
        writer.write(b"%d" % number)
    writer.close(20.0)
    assert out.getvalue() == b"".join(b"%d\n" % number for number in range(1000))
    assert "0 dropped" in repr(writer)


class Stuck(io.BytesIO):
    """A pipe whose reader has stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.is_entered = threading.Event()
        self.may_go_on = threading.Event()

    def write(self, data: object) -> int:
        self.is_entered.set()
        self.may_go_on.wait(20)
        return 0


def test_a_slow_reader_costs_lines_but_never_blocks() -> None:
    out = Stuck()
    writer = LineWriter(out, lines_kept=10)
    writer.write(b"first")
    assert out.is_entered.wait(20)
    for _ in range(25):
        writer.write(b"more")
    assert writer.dropped == 15
    out.may_go_on.set()
    writer.close(20.0)


class Closed(io.BytesIO):
    def write(self, data: object) -> int:
        raise BrokenPipeError


def test_a_reader_that_is_gone_stops_the_writer_only() -> None:
    writer = LineWriter(Closed())
    writer.write(b"line")
    writer.close(20.0)
    writer.write(b"another")
    assert writer.dropped >= 1

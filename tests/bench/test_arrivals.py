"""The file of arrivals: texts of the drawn lengths, shared where hashes are equal."""

from pathlib import Path

from gateway.emulator import tokens
from gateway.emulator.generation import Generation, Limits
from gateway.emulator.kv import TokenBlockHashes
from gateway.emulator.lengths import length_mark, marked
from tests.bench.arrivals import arrivals_of, make, read, write
from tests.bench.prompts import prompt_ids
from tests.sim.requests import LONGEST_OUTPUT
from tests.sim.workload import build

COUNT = 40


def test_a_file_reads_as_it_was_written(tmp_path: Path) -> None:
    arrivals = make(1, 0.75, COUNT)
    write(arrivals, tmp_path / "arrivals.jsonl")
    assert read(tmp_path / "arrivals.jsonl") == arrivals


def test_prompts_have_the_drawn_lengths() -> None:
    off = [len(prompt_ids(a.body["messages"])) - a.prompt_tokens for a in make(2, 0.75, COUNT)]
    assert min(off) == 0
    assert max(off) < 32
    assert sum(off) / len(off) < 3


def test_texts_share_blocks_exactly_where_hashes_are_equal() -> None:
    workload = build("chat", 3, COUNT, 0.75)
    size = workload.fleet[0].block_size
    pairs: set[tuple[int, int | None]] = set()
    for request, arrival in zip(workload.requests, arrivals_of(workload), strict=True):
        blocks = TokenBlockHashes(prompt_ids(arrival.body["messages"]), size)
        for index, drawn in enumerate(request.known.prefix):
            pairs.add((drawn, blocks.at(index)))
    assert len({drawn for drawn, _ in pairs}) == len(pairs) == len({made for _, made in pairs})


def test_the_body_says_no_more_of_the_answer_than_a_client_does() -> None:
    arrivals = make(4, 0.75, COUNT)
    for arrival in arrivals:
        limit = arrival.body["max_tokens"]
        assert limit == LONGEST_OUTPUT or arrival.output_tokens <= limit < 2 * arrival.output_tokens
        assert set(arrival.body) == {"model", "stream", "stream_options", "max_tokens", "messages"}
    open_ended = [a for a in arrivals if a.body["max_tokens"] == LONGEST_OUTPUT]
    assert 0.25 < len(open_ended) / COUNT < 0.75


def test_the_engine_says_the_drawn_number_of_tokens() -> None:
    for arrival in make(5, 0.75, 8):
        messages = arrival.body["messages"]
        rules = marked(Limits(arrival.body["max_tokens"]), messages[-1]["content"])
        source = Generation(prompt_ids(messages), rules)
        said = [source.next_token() for _ in range(arrival.output_tokens)]
        assert [token.finish for token in said] == [None] * (len(said) - 1) + ["stop"]


def test_a_mark_is_overruled_by_the_limit_and_needed_to_change_anything() -> None:
    assert marked(Limits(9), "no mark") == Limits(9)
    source = Generation(tokens.encode("x"), marked(Limits(2), length_mark(5)))
    assert [source.next_token().finish for _ in range(2)] == [None, "length"]


def test_another_load_moves_the_arrivals_only() -> None:
    calm, busy = make(6, 0.6, COUNT), make(6, 0.75, COUNT)
    assert [a.body for a in calm] == [a.body for a in busy]
    assert calm[-1].at_s * 0.6 == busy[-1].at_s * 0.75

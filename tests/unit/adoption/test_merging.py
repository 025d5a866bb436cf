"""Several sources about one backend are one backend, and where they differ it is told."""

from typing import Any

import pytest

from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.codes import Code
from gateway.adoption.merging import merge
from gateway.adoption.reading import read_source
from gateway.adoption.sources import Sighting
from gateway.config.vocabulary import Chip, Tier
from gateway.fleet.account import Account, EngineFacts, Trouble, TroubleKind
from gateway.fleet.health.evidence import ModelCard
from gateway.words import Words

IMAGE = "quay.io/ascend/vllm-ascend:v0.20.2rc1-310p"
RUN = (
    "docker run -d --name box --device /dev/davinci2 --device /dev/davinci3 -p 12322:8000 "
    f"{IMAGE} bash\n"
)
NPUS = "ASCEND_RT_VISIBLE_DEVICES=2,3 "
SERVE = "vllm serve /models/Qwen3.5-9B --served-model-name nine -tp 2 --max-model-len 8192"
LOG = """INFO 09-04 05:25:02 [model.py:1547] Using max model len {length}
INFO 09-04 05:25:04 [platform.py:290] FULL_DECODE_ONLY compilation enabled on NPU
(EngineCore pid=1) INFO 09-04 05:27:41 [kv_cache_utils.py:1305] GPU KV cache size: 66,340 tokens
"""


def merged(*texts: str, accounts: tuple[Account, ...] = (), host: str = "10.0.0.5") -> Fleet:
    sighting = Sighting()
    for number, text in enumerate(texts):
        sighting += read_source(text, f"{number}.log" if "INFO" in text else f"{number}.sh")
    return merge(sighting, accounts, host=host)


def only(fleet: Fleet) -> Candidate:
    (candidate,) = fleet.candidates
    return candidate


def codes(fleet: Fleet) -> set[Code]:
    return {finding.code for finding in fleet.findings}


def account(url: str, *names: str, **fields: Any) -> Account:
    cards = tuple(ModelCard(n, root="/models/Qwen3.5-9B", max_model_len=4096) for n in names)
    return Account(url, cards=cards, **fields)


def test_a_launch_in_a_named_container() -> None:
    one = only(merged(RUN, f"docker exec -d box bash -c '{NPUS}{SERVE}'"))
    assert (one.host, one.port, one.engine_port) == ("10.0.0.5", 12322, 8000)
    assert (one.npus, one.chip, one.version) == ((2, 3), Chip.A310P, (0, 20, 2))
    assert one.container is not None
    assert one.guesses == ()


def test_a_lone_launch_goes_with_the_only_container_that_fits() -> None:
    fleet = merged(RUN, NPUS + SERVE)
    one = only(fleet)
    assert (one.port, [g.code for g in one.guesses]) == (12322, [Code.CONTAINER_PAIRED])
    assert Code.CONTAINER_PAIRED in codes(fleet)


@pytest.mark.parametrize(
    "texts",
    [
        (RUN, SERVE),
        (RUN, f"ASCEND_RT_VISIBLE_DEVICES=0,1 {SERVE}"),
        (RUN, f"{NPUS}{SERVE} --port 9000"),
        (RUN, RUN.replace("box", "other"), NPUS + SERVE),
    ],
)
def test_without_unique_evidence_there_is_no_pair(texts: tuple[str, ...]) -> None:
    one = only(merged(*texts))
    assert one.container is None
    assert one.port in (8000, 9000)


def test_what_is_found_twice_is_one() -> None:
    text = f"{SERVE} --port 8100"
    one = only(merged(text, text))
    assert [str(origin) for origin in one.origins] == ["0.sh:1", "1.sh:1"]


def test_sources_that_differ_are_named() -> None:
    fleet = merged(f"{SERVE} --port 8100", f"{SERVE} --port 8100 --max-model-len 4096")
    assert only(fleet).max_model_len == 8192
    (finding,) = [f for f in fleet.findings if f.code is Code.SOURCES_DISAGREE]
    assert dict(finding.values) == {
        "field": "max_model_len",
        "one": "8192",
        "here": "0.sh:1",
        "other": "4096",
        "there": "1.sh:1",
    }


def test_a_log_belongs_to_the_one_that_it_fits() -> None:
    other = "vllm serve /models/Qwen3-8B --served-model-name q8 --port 8101 --max-model-len 4096"
    fleet = merged(f"{SERVE} --port 8100", other, LOG.format(length=4096))
    nine, eight = fleet.candidates
    assert nine.log is None
    assert eight.log is not None
    assert eight.log.kv_tokens == 66340


def test_a_log_that_fits_several_is_left_out_and_told() -> None:
    other = SERVE.replace("nine", "q8").replace("Qwen3.5-9B", "Qwen3-8B")
    fleet = merged(f"{SERVE} --port 8100", f"{other} --port 8101", LOG.format(length=8192))
    assert len(fleet.logs) == 1
    assert Code.LOG_NOT_MATCHED in codes(fleet)
    assert all(one.log is None for one in fleet.candidates)


def test_what_runs_counts_more_than_what_is_written() -> None:
    engine = EngineFacts(is_eager=True, max_num_seqs=4)
    running = account("http://10.0.0.5:8100", "nine", engine=engine, version="0.23.0")
    fleet = merged(f"{SERVE} --port 8100 --max-num-seqs 8", accounts=(running,))
    one = only(fleet)
    assert (one.tier, one.max_num_seqs, one.max_model_len) == (Tier.EAGER, 4, 4096)
    assert one.version == (0, 23, 0)
    told = {f.values["field"] for f in fleet.findings if f.code is Code.SOURCES_DISAGREE}
    assert told == {"max_num_seqs", "max_model_len"}


def test_another_model_at_the_port_wins_and_is_told() -> None:
    running = Account("http://10.0.0.5:8100", cards=(ModelCard("other", root="/models/other"),))
    fleet = merged(f"{SERVE} --port 8100", accounts=(running,))
    assert [(c.served_name, bool(c.disabled_by)) for c in fleet.candidates] == [
        ("other", False),
        ("nine", True),
    ]
    assert Code.PORT_OTHER_MODEL in codes(fleet)


def test_a_server_that_nothing_else_shows_is_a_backend() -> None:
    running = account("http://h:8000/llm", "a", "b")
    one = only(merge(Sighting(), (running,)))
    assert (one.name, one.served_names, one.host, one.port, one.prefix) == (
        "a",
        ("a", "b"),
        "h",
        8000,
        "/llm",
    )


def test_a_server_that_does_not_answer_is_a_finding() -> None:
    failure = Trouble(TroubleKind.REFUSED, Words("it refuses connections", "连接被拒绝"))
    fleet = merge(Sighting(), (Account("http://h:1", failure),))
    assert (fleet.candidates, codes(fleet)) == ((), {Code.ACCOUNT_FAILED})


def test_of_two_that_collide_the_later_is_disabled() -> None:
    fleet = merged(f"{NPUS}{SERVE} --port 1", f"{NPUS}{SERVE.replace('nine', 'ten')} --port 2")
    assert [one.disabled_by for one in fleet.candidates] == ["", "nine"]


def test_a_graph_engine_and_its_eager_twin() -> None:
    fleet = merged(f"{SERVE} --port 1", f"{SERVE} --port 2 --enforce-eager")
    assert [(one.name, one.tier) for one in fleet.candidates] == [
        ("nine", Tier.GRAPH),
        ("nine-eager", Tier.EAGER),
    ]


def test_one_model_at_two_ports_of_two_sources() -> None:
    fleet = merged(f"{SERVE} --port 12320", f"{SERVE} --port 12322")
    assert Code.MODEL_AT_TWO_PORTS in codes(fleet)
    apart = merged(f"{NPUS}{SERVE} --port 1", f"ASCEND_RT_VISIBLE_DEVICES=0,1 {SERVE} --port 2")
    assert Code.MODEL_AT_TWO_PORTS not in codes(apart)

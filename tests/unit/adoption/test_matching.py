"""A log and a running server go to the backend that they are of, or to none."""

import pytest

from gateway.adoption.addresses import address_of
from gateway.adoption.matching import accounts_of, logs_of
from gateway.adoption.promises import promise_of, promise_of_account
from gateway.adoption.sources import EngineLog
from gateway.adoption.starts import Start
from gateway.fleet.account import Account, EngineFacts
from tests.unit.adoption.started import log, running, start

NINE = "/m/nine --served-model-name nine qwen --max-model-len 8192 -tp 2"
EIGHT = "/m/eight --served-model-name eight --port 8001 --max-model-len 4096"
SIZES = "--cudagraph-capture-sizes 4 1"


def owner(log: EngineLog, *lines: str) -> int | None:
    promises = [promise_of(start(line)) for line in lines]
    found, left = logs_of(promises, [log])
    assert len(found) + len(left) == 1
    return next(iter(found), None)


@pytest.mark.parametrize(
    ("says", "index"),
    [
        ({"port": 8000}, 0),
        ({"port": 8001}, 1),
        ({"port": 9000}, None),
        ({"model": "/elsewhere/eight/"}, 1),
        ({"served_names": ("nine",)}, 0),
        ({"served_names": ("nine", "qwen")}, 0),
        ({"served_names": ("other",)}, None),
        ({"max_model_len": 4096}, 1),
        ({"max_model_len": 1}, None),
        ({"tensor_parallel": 2}, 0),
        ({"served_names": ("nine",), "max_model_len": 4096}, None),
        ({}, None),
    ],
)
def test_all_that_a_log_says_must_fit(says: dict[str, object], index: int | None) -> None:
    assert owner(log(**says), NINE, EIGHT) == index


@pytest.mark.parametrize(
    ("says", "index"),
    [
        ({"is_eager": True}, 1),
        ({"is_eager": False}, 0),
        ({"capture_count": 2}, 0),
        ({"capture_sizes": (1, 4)}, 0),
        ({"capture_sizes": (1, 2)}, None),
    ],
)
def test_graphs_tell_twins_apart(says: dict[str, object], index: int | None) -> None:
    graph, eager = f"/m/a --port 1 {SIZES}", "/m/a --port 2 --enforce-eager"
    assert owner(log(**says), graph, eager, "/m/a --port 3") == index


def test_what_the_log_confirms_counts_more_than_what_nobody_says() -> None:
    says = {"max_model_len": 8192, "is_eager": False}
    assert owner(log(**says), f"{NINE} {SIZES}", "/m/quiet --port 8005") == 0


def test_the_file_of_a_command_decides() -> None:
    starts = [start("/m/a --port 1"), start("/m/a --port 2", log_files=("/var/log/two.log",))]
    found, _ = logs_of([promise_of(one) for one in starts], [log("two.log")])
    assert list(found) == [1]


def test_a_log_that_names_its_backend_may_say_that_graphs_failed() -> None:
    says = {"served_names": ("nine",), "is_eager": True}
    assert owner(log(**says), f"{NINE} {SIZES}", EIGHT) == 0
    assert owner(log(is_eager=True), f"{NINE} {SIZES}", EIGHT) is None


def test_of_one_backend_alone_a_log_needs_less() -> None:
    says = {"is_eager": True, "max_model_len": 8192}
    assert owner(log(**says), f"{NINE} {SIZES}") == 0
    assert owner(log(is_eager=True), f"{NINE} {SIZES}") is None


def test_a_second_log_of_one_backend_goes_to_no_other() -> None:
    promises = [promise_of(start(NINE)), promise_of(start("/m/quiet --port 8005"))]
    logs = [log(f"{n}.log", max_model_len=8192) for n in range(2)]
    found, left = logs_of(promises, logs)
    assert found == {0: logs[0]}
    assert [(one.log, one.fitting) for one in left] == [(logs[1], (0,))]


def test_a_running_server_has_a_log_too() -> None:
    engine = EngineFacts(max_num_seqs=8, is_eager=True, capture_sizes=())
    promise = promise_of_account(running("http://h:1", "nine", engine=engine))
    other = promise_of_account(running("http://h:2", "ten"))
    found, _ = logs_of([other, promise], [log(served_names=("nine",), max_num_seqs=8)])
    assert list(found) == [1]


def owners(accounts: list[Account], *starts: Start, host: str = "127.0.0.1") -> dict[int, str]:
    addresses = [address_of(one, (), host) for one in starts]
    found, left = accounts_of(starts, addresses, accounts)
    assert len(found) + len(left) == len(accounts)
    return {index: account.url for index, account in found.items()}


def test_a_server_belongs_to_the_start_at_its_address() -> None:
    here = running("http://localhost:8001", "eight")
    assert owners([here], start(NINE), start(EIGHT)) == {1: here.url}


def test_of_several_at_its_address_the_one_of_its_name() -> None:
    here = running("http://127.0.0.1:8000", "nine")
    other = start("/m/x --served-model-name other --port 8000")
    assert owners([here], other, start(NINE)) == {1: here.url}


def test_another_model_at_its_address_is_not_taken() -> None:
    assert owners([running("http://127.0.0.1:8000", "other")], start(NINE)) == {}


@pytest.mark.parametrize(
    ("url", "host", "is_taken"),
    [
        ("http://10.0.0.7:8000", "127.0.0.1", True),  # the machine was a guess
        ("http://10.0.0.7:9000", "127.0.0.1", True),
        ("http://10.0.0.7:9000", "10.0.0.7", True),
        ("http://10.0.0.7:8000", "10.0.0.8", False),
    ],
)
def test_a_server_elsewhere_belongs_to_the_only_one_of_its_name(
    url: str, host: str, is_taken: bool
) -> None:
    assert bool(owners([running(url, "nine")], start(NINE), start(EIGHT), host=host)) is is_taken


def test_a_server_elsewhere_is_known_by_its_path() -> None:
    there = running("http://h:1", "renamed", root="/m/nine/")
    assert owners([there], start(EIGHT), start(NINE)) == {1: there.url}


def test_copies_are_not_confused() -> None:
    here, copy = running("http://127.0.0.1:8000", "nine"), running("http://127.0.0.1:9", "nine")
    assert owners([copy, here], start(NINE)) == {0: here.url}
    elsewhere = [running("http://h:1", "nine"), running("http://h:2", "nine")]
    assert owners(elsewhere, start(NINE)) == {}
    assert owners(elsewhere[:1], start(NINE), start(f"{NINE} --port 3")) == {}

"""Of each fact the surest source is believed, and what others say instead is told once."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.adoption.addresses import address_of
from gateway.adoption.assembling import Assembled, assemble, of_account
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.sources import Container, EngineLog, PortMap
from gateway.config.vocabulary import Chip, Tier
from gateway.fleet.account import Account, EngineFacts
from gateway.fleet.health.evidence import ModelCard
from tests.unit.adoption.started import box, log, running, start

LINE = "/m/nine --served-model-name nine --port 8100 --max-num-seqs 8"
URL = "http://127.0.0.1:8100"


def put_together(
    line: str = LINE,
    *,
    container: Container | None = None,
    of_log: EngineLog | None = None,
    account: Account | None = None,
    env: dict[str, str] | None = None,
) -> Assembled:
    made = start(line, container, environment=env or {})
    return assemble(made, address_of(made, (), "127.0.0.1"), of_log, account)


def told(findings: tuple[Finding, ...]) -> list[tuple[str, str, str]]:
    return [
        (f.values["field"], f.values["one"], f.values["other"])
        for f in findings
        if f.code is Code.SOURCES_DISAGREE
    ]


def engine(**says: Any) -> Account:
    return running(URL, "nine", root="/m/nine", engine=EngineFacts(**says))


@pytest.mark.parametrize(
    ("field", "command", "logged", "runs", "value"),
    [
        ("max_num_seqs", "", None, None, 8),
        ("max_num_seqs", "", 8, 4, 4),
        ("max_num_batched_tokens", "--max-num-batched-tokens 4096", None, 2048, 2048),
        ("tensor_parallel", "-tp 2", None, None, 2),
        ("tensor_parallel", "", 4, None, 4),
        ("max_model_len", "--max-model-len 8192", 4096, None, 4096),
        ("max_model_len", "--max-model-len 8192", 8192, 1024, 1024),
        ("quantization", "--quantization ascend", None, "compressed", "compressed"),
    ],
)
def test_precedence(field: str, command: str, logged: Any, runs: Any, value: Any) -> None:
    of_log = log(**{field: logged}) if logged is not None else None
    account = engine(**{field: runs}) if runs is not None else None
    found = put_together(f"{LINE} {command}", of_log=of_log, account=account)
    assert getattr(found.candidate, field) == value
    ordered = getattr(put_together(f"{LINE} {command}").candidate, field)
    others = [one for one in (logged, ordered) if one is not None]
    assert [str(one) for one in others if one != value] == [
        other for _, _, other in told(found.findings)
    ]


def test_a_difference_names_both_values_and_both_places() -> None:
    found = put_together(account=engine(max_num_seqs=4))
    (finding,) = [f for f in found.findings if f.code is Code.SOURCES_DISAGREE]
    assert dict(finding.values) == {
        "field": "max_num_seqs",
        "one": "4",
        "here": URL,
        "other": "8",
        "there": "serve.sh:3",
    }


@pytest.mark.parametrize(
    ("command", "logged", "runs", "tier", "differences"),
    [
        ("", None, None, Tier.GRAPH, []),
        ("--enforce-eager", None, None, Tier.EAGER, []),
        ("-O0", None, None, Tier.EAGER, []),
        ("--cudagraph-capture-sizes 1 4", True, None, Tier.EAGER, []),  # a rule tells it
        ("--cudagraph-capture-sizes 1 4", True, False, Tier.GRAPH, [("eager", "False", "True")]),
        ("--enforce-eager", None, False, Tier.GRAPH, [("eager", "False", "True")]),
    ],
)
def test_the_tier(
    command: str,
    logged: bool | None,
    runs: bool | None,
    tier: Tier,
    differences: list[tuple[str, str, str]],
) -> None:
    of_log = None if logged is None else log(is_eager=logged)
    account = None if runs is None else engine(is_eager=runs)
    found = put_together(f"{LINE} {command}", of_log=of_log, account=account)
    assert found.candidate.tier is tier
    assert told(found.findings) == differences


@pytest.mark.parametrize(
    ("command", "logged", "runs", "sizes"),
    [
        ("", None, None, None),
        ("--cudagraph-capture-sizes 1 4", None, None, (1, 4)),
        ("--cudagraph-capture-sizes 1 4", (1, 2), None, (1, 2)),
        ("--cudagraph-capture-sizes 1 4", (1, 2), (1, 8), (1, 8)),
        ("--cudagraph-capture-sizes 1 4 --enforce-eager", None, None, None),
    ],
)
def test_capture_sizes(
    command: str,
    logged: tuple[int, ...] | None,
    runs: tuple[int, ...] | None,
    sizes: tuple[int, ...] | None,
) -> None:
    account = engine(capture_sizes=runs) if runs else None
    found = put_together(f"{LINE} {command}", of_log=log(capture_sizes=logged), account=account)
    assert found.candidate.capture_sizes == sizes


def test_names_adapters_and_path_are_those_of_the_running_server() -> None:
    cards = (
        ModelCard("extra", root="/lora", parent="nine", max_model_len=9),
        ModelCard("nine", root="/m/other", max_model_len=4096),
        ModelCard("alias", root="/m/other", max_model_len=4096),
    )
    found = put_together(account=Account(URL, cards=cards))
    one = found.candidate
    assert (one.served_names, one.lora_names) == (("nine", "alias"), ("extra",))
    assert (one.model_path, one.max_model_len) == ("/m/other", 4096)
    assert told(found.findings) == [("model", "/m/other", "/m/nine")]


@pytest.mark.parametrize("path", ["/m/nine/", "/m/nine", "org/Nine"])
def test_the_same_model_in_another_spelling_is_no_difference(path: str) -> None:
    assert told(put_together(of_log=log(model=path)).findings) == []


def test_the_port_at_which_it_was_found_is_taken() -> None:
    account = running("http://127.0.0.1:9100", "nine", root="/m/nine")
    found = put_together(account=account)
    assert found.candidate.port == 9100
    assert told(found.findings) == [("port", "9100", "8100")]


def test_what_was_asked_is_no_guess_any_more() -> None:
    random = box(ports=(PortMap(None, 8100),))
    unsure = put_together(container=random).candidate
    assert ([one.code for one in unsure.guesses], unsure.is_host_guessed) == (
        [Code.PORT_RANDOM],
        True,
    )
    account = running("https://h:49153/pre", "nine", root="/m/nine")
    found = put_together(container=random, account=account)
    one = found.candidate
    assert (one.scheme, one.host, one.port, one.prefix) == ("https", "h", 49153, "/pre")
    assert (one.guesses, one.is_host_guessed, told(found.findings)) == ((), False, [])


def test_a_launch_wins_over_its_container_in_devices() -> None:
    container = box(environment={"ASCEND_RT_VISIBLE_DEVICES": "0,1", "A": "1"})
    found = put_together(container=container, env={"ASCEND_RT_VISIBLE_DEVICES": "2,3"})
    assert found.candidate.npus == (2, 3)
    assert found.candidate.environment["A"] == "1"
    assert told(found.findings) == [("ASCEND_RT_VISIBLE_DEVICES", "2,3", "0,1")]


def test_an_image_and_weights_for_different_chips() -> None:
    container = box(image="vllm-ascend:v0.20.2-a3")
    found = put_together(LINE.replace("/m/nine", "/m/nine-310"), container=container)
    assert found.candidate.chip is Chip.A3
    assert told(found.findings) == [("chip", "A3", "310P")]


@pytest.mark.parametrize(
    ("runs", "logged", "tag", "version", "differences"),
    [
        (None, None, "v0.20.2rc1-310p", (0, 20, 2), []),
        (None, "0.21.0", "v0.20.2rc1-310p", (0, 21, 0), ["0.21.0"]),
        (None, "0.20.2+empty", "v0.20.2rc1-310p", (0, 20, 2), []),
        ("0.23.0", "0.21.0", "v0.23.0", (0, 23, 0), ["0.23.0"]),
        ("0.23.0", None, "v0.20.2", (0, 23, 0), []),  # a rule tells it
        ("0.1.dev1+g1", None, "v0.20.2", (0, 20, 2), []),
    ],
)
def test_versions(
    runs: str | None,
    logged: str | None,
    tag: str,
    version: tuple[int, ...],
    differences: list[str],
) -> None:
    found = put_together(
        container=box(image=f"vllm-ascend:{tag}", is_host_network=True),
        of_log=log(version=logged),
        account=replace(engine(), version=runs) if runs else None,
    )
    assert found.candidate.version == version
    assert [one for field, one, _ in told(found.findings) if field == "version"] == differences


def test_a_server_alone_with_its_log() -> None:
    account = running(URL, "nine", engine=EngineFacts(max_num_seqs=8))
    address = address_of(start(LINE), (), "127.0.0.1")
    of_log = log(is_eager=True, max_num_seqs=4, max_model_len=2048)
    found = of_account(account, address, of_log)
    one = found.candidate
    assert (one.tier, one.max_num_seqs, one.max_model_len) == (Tier.EAGER, 8, 2048)
    assert one.arguments is None
    assert told(found.findings) == [("max_num_seqs", "8", "4")]
    assert str(one.origin) == URL

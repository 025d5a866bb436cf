"""Plans of a storm: every kind is there, and each file is what its step says."""

import random
from dataclasses import replace

import pytest
import yaml

from gateway.config.load import load_bytes
from gateway.emulator.fleet_file import load_fleet
from tests.storm import breakage
from tests.storm.fleet import (
    GUESTS,
    HOSTS,
    NEW_NAME,
    RENAMED,
    SERVERS,
    Shape,
    fleet_tree,
    ports_of,
    routing_text,
    serving,
)
from tests.storm.options import parse
from tests.storm.plan import BREAK, FULL, REPAIR, SHORT, Planner, Step, Trigger, Writer

PORTS = ports_of(range(20001, 20001 + len(SERVERS)))


def addresses(step: Step) -> set[str]:
    """The servers that the file of a step lets requests go to."""
    assert step.data is not None
    loaded = load_bytes(step.data, "routing.yaml")
    assert loaded.config is not None
    names = {f"http://127.0.0.1:{port}": name for name, port in PORTS.items()}
    return {names[b.url] for b in loaded.config.backends if b.enabled}


@pytest.mark.parametrize("seed", range(2))
def test_every_step_is_what_it_says(seed: int) -> None:
    planner = Planner(seed, PORTS)
    version = load_bytes(planner.text().encode(), "routing.yaml").version_hash
    for step in planner.steps(FULL):
        loaded = load_bytes(step.data or b"", "routing.yaml")
        assert (loaded.config is None) is step.is_refused, step
        if step.is_refused or step.is_same:
            assert step.version == version, step
        else:
            assert step.version == loaded.version_hash
            assert step.version != version or step.kind == REPAIR, step
        if not step.is_refused:
            assert addresses(step) == step.serving
        version = step.version


@pytest.mark.parametrize(("counts", "total"), [(FULL, 100), (SHORT, 20)])
def test_every_kind_writer_and_trigger_takes_part(counts: dict[str, int], total: int) -> None:
    steps = Planner(7, PORTS).steps(counts)
    assert len(steps) == total
    assert {step.writer for step in steps} == set(Writer)
    assert {step.trigger for step in steps} == set(Trigger)
    kinds = [step.kind.partition(":")[0] for step in steps]
    assert {kind for kind, count in counts.items() if count} - set(kinds) == set()
    assert kinds.count(BREAK) == kinds.count(REPAIR) == counts[BREAK]
    for at, kind in enumerate(kinds):
        assert kind != BREAK or kinds[at + 1] == REPAIR


def test_a_full_run_breaks_the_file_in_every_way() -> None:
    steps = Planner(7, PORTS).steps(FULL)
    broken = {step.kind for step in steps if step.is_refused}
    assert broken == {f"{BREAK}:{kind}" for kind in breakage.KINDS}


def test_a_seed_draws_the_same() -> None:
    assert Planner(3, PORTS).steps(SHORT) == Planner(3, PORTS).steps(SHORT)
    assert Planner(3, PORTS).steps(SHORT) != Planner(4, PORTS).steps(SHORT)


@pytest.mark.parametrize("seed", range(2))
def test_a_burst_ends_with_a_good_file_that_is_new(seed: int) -> None:
    steps = Planner(seed, PORTS).burst(50)
    assert len(steps) == 51
    assert not steps[-1].is_refused
    assert steps[-1].version not in {step.version for step in steps[:-1]}
    assert {step.trigger for step in steps} == {Trigger.WATCH, Trigger.POST}
    assert any(step.is_refused for step in steps)


@pytest.mark.parametrize("kind", breakage.KINDS)
def test_every_breakage_breaks_every_file(kind: str) -> None:
    rng = random.Random(1)
    for _ in range(6):
        shape = Shape(
            is_backend_renamed=rng.random() < 0.5,
            is_model_renamed=rng.random() < 0.5,
            is_moved=rng.random() < 0.5,
            guests=frozenset(rng.sample(GUESTS, rng.randint(0, 2))),
            tuning=rng.randint(0, 99),
        )
        data = breakage.broken(kind, routing_text(shape, PORTS))
        assert data is None or load_bytes(data, "routing.yaml").config is None


def test_both_names_of_a_model_are_known_at_all_times() -> None:
    for is_renamed in (False, True):
        text = routing_text(Shape(is_model_renamed=is_renamed), PORTS)
        loaded = load_bytes(text.encode(), "routing.yaml")
        assert loaded.config is not None
        names = [(m.name, *m.aliases) for m in loaded.config.models]
        assert any(set(one) == {RENAMED, NEW_NAME} for one in names)


def test_servers_that_may_be_asked() -> None:
    shape = Shape(guests=frozenset({"c2", "c3"}), disabled=frozenset({"c3"}), is_moved=True)
    assert serving(shape) == {"a1", "a2", "b1", "b2", "c1-moved", "c2"}
    assert serving(replace(shape, is_moved=False, guests=frozenset())) == {
        *("a1", "a2", "b1", "b2", "c1")
    }


def test_the_emulator_takes_the_fleet(tmp_path) -> None:
    names = []
    for host in HOSTS:
        file = tmp_path / "fleet.yaml"
        file.write_text(yaml.safe_dump(fleet_tree(host, PORTS, 4.0)), encoding="utf-8")
        names += [(spec.name, spec.port) for spec, _ in load_fleet(file)]
    assert dict(names) == PORTS


def test_options() -> None:
    assert parse([]).mode == "full"
    short = parse(["--short", "--seed", "3"])
    assert (short.mode, short.seed, short.counts) == ("short", 3, SHORT)

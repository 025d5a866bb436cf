"""The difference of two routing files: what it holds, and that it leads from one to the other."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.config.diff import ConfigDiff, Renamed, apply, diff
from gateway.config.labels import Labels
from gateway.config.schema import BackendConfig, BackendRef, ModelConfig, RoutingConfig
from gateway.config.service import Membership, Name, OtherServedName
from tests.unit.config.test_export import configs as any_configs

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def backend(name: str, url: str = "", **fields: Any) -> BackendConfig:
    return BackendConfig(name=name, url=url or f"http://{name}:1", **{"served_name": "q", **fields})


def model(name: str, *backends: str | BackendRef, **fields: Any) -> ModelConfig:
    refs = (BackendRef(backend=b) if isinstance(b, str) else b for b in backends)
    return ModelConfig(name=name, backends=tuple(refs), **fields)


def config(
    backends: list[BackendConfig] | None = None,
    models: list[ModelConfig] | None = None,
    **fields: Any,
) -> RoutingConfig:
    return RoutingConfig(
        version=1, backends=tuple(backends or ()), models=tuple(models or ()), **fields
    )


def taken(old: RoutingConfig, new: RoutingConfig) -> ConfigDiff:
    """The difference, after a look that it leads to the new one."""
    change = diff(old, new)
    assert apply(old, change) == new
    return change


# Few names and values, so that two configs have much in common; models may share a name while all
# but one are disabled.
FEW = st.sampled_from("abcd")
URLS = st.sampled_from(["http://h:1", "http://h:1/v1", "http://h:2", "https://h:3"])
BACKENDS = st.builds(
    BackendConfig,
    name=FEW,
    url=URLS,
    served_name=FEW,
    max_num_seqs=st.none() | st.integers(1, 2),
    labels=st.dictionaries(st.just("pool"), FEW).map(Labels),
    enabled=st.booleans(),
)
REFS = st.builds(BackendRef, backend=FEW, served_name=st.none() | FEW)
MODELS = st.builds(
    ModelConfig,
    name=FEW,
    aliases=st.lists(st.sampled_from("abxy"), max_size=2, unique=True).map(tuple),
    backends=st.lists(REFS, max_size=3, unique_by=lambda ref: ref.backend).map(tuple),
    enabled=st.booleans(),
) | st.builds(ModelConfig, name=FEW, selector=st.builds(Labels, st.just({"pool": "a"})))
CONFIGS = st.builds(
    RoutingConfig,
    version=st.just(1),
    backends=st.lists(BACKENDS, max_size=4, unique_by=lambda one: one.name).map(tuple),
    models=st.lists(MODELS, max_size=5).map(tuple),
    default_model=st.none() | FEW,
    list_aliases=st.booleans(),
)


@SLOW
@given(CONFIGS, CONFIGS)
def test_applied_it_gives_the_new_config(old: RoutingConfig, new: RoutingConfig) -> None:
    change = taken(old, new)
    assert change.is_empty == (old == new)


@SLOW
@given(any_configs(), any_configs())
def test_every_field_counts(old: RoutingConfig, new: RoutingConfig) -> None:
    taken(old, new)


@SLOW
@given(CONFIGS, st.randoms(use_true_random=False))
def test_another_order_is_a_difference_of_order_only(old: RoutingConfig, chance: Any) -> None:
    backends, models = [*old.backends], [*old.models]
    chance.shuffle(backends)
    chance.shuffle(models)
    new = old.model_copy(update={"backends": tuple(backends), "models": tuple(models)})
    change = taken(old, new)
    assert not change.backends.added + change.backends.removed + change.backends.changed
    assert not change.models.added + change.models.removed + change.models.changed
    assert not change.fields
    assert (change.backends.order is None) == (new.backends == old.backends)


@SLOW
@given(CONFIGS, CONFIGS, CONFIGS)
def test_a_config_that_can_not_take_it_gives_a_value_error_only(
    old: RoutingConfig, new: RoutingConfig, other: RoutingConfig
) -> None:
    change = diff(old, new)
    with suppress(ValueError):
        assert apply(other, change).model_fields_set >= {"backends", "models"}


def test_a_difference_of_another_config_is_refused() -> None:
    change = diff(config([backend("a")]), config([backend("a", max_num_seqs=2)]))
    with pytest.raises(ValueError, match="not the config that the difference was taken from"):
        apply(config([backend("b")]), change)


def test_nothing_differs() -> None:
    one = config([backend("a")], [model("m", "a")], default_model="m")
    change = taken(one, config([backend("a")], [model("m", "a")], default_model="m"))
    assert change.is_empty
    assert change.service.names == change.service.lost == change.renamed == ()


def test_what_is_added_removed_and_changed() -> None:
    old = config([backend("a"), backend("b", max_num_seqs=8)], [model("m", "a", "b"), model("n")])
    new = config(
        [backend("b", max_num_seqs=4, tier="eager"), backend("c")],
        [model("o", "c"), model("m", "b")],
        list_aliases=True,
    )
    change = taken(old, new)
    assert [b.name for b in change.backends.added] == ["c"]
    assert [b.name for b in change.backends.removed] == ["a"]
    (changed,) = change.backends.changed
    assert (changed.old.max_num_seqs, changed.new.max_num_seqs) == (8, 4)
    assert changed.fields == ("tier", "max_num_seqs")
    assert change.backends.order is None
    assert [m.name for m in change.models.added] == ["o"]
    assert [m.name for m in change.models.removed] == ["n"]
    assert [c.fields for c in change.models.changed] == [("backends",)]
    assert change.models.order == (1, 0)
    assert [(f.name, f.old, f.new) for f in change.fields] == [("list_aliases", False, True)]


@pytest.mark.parametrize(
    ("old", "new", "leaving", "joining"),
    [
        ([backend("a")], [], ["a"], []),
        ([], [backend("a")], [], ["a"]),
        ([backend("a")], [backend("a", enabled=False)], ["a"], []),
        ([backend("a", enabled=False)], [backend("a")], [], ["a"]),
        ([backend("a", enabled=False)], [], [], []),
        ([], [backend("a", enabled=False)], [], []),
        ([backend("a")], [backend("b", "http://a:1")], ["a"], ["b"]),
        ([backend("a")], [backend("a", max_num_seqs=3)], [], []),
        ([backend("a")], [backend("a", "http://b:1")], [], []),
    ],
)
def test_who_leaves_and_joins_service(
    old: list[BackendConfig], new: list[BackendConfig], leaving: list[str], joining: list[str]
) -> None:
    change = taken(config(old), config(new))
    assert [b.name for b in change.leaving] == leaving
    assert [b.name for b in change.joining] == joining


@pytest.mark.parametrize(
    ("old", "new", "is_replaced"),
    [
        (backend("a"), backend("a", "http://b:1"), True),
        (backend("a"), backend("a", "http://a:1/pre"), True),
        (backend("a"), backend("a", "http://a:1/v1/"), False),
        (backend("a", "https://a"), backend("a", "https://a:443", tls={"verify": False}), True),
        (backend("a"), backend("a", "http://b:1", enabled=False), False),
        (backend("a"), backend("a", served_name="r"), False),
    ],
)
def test_a_name_at_another_address(
    old: BackendConfig, new: BackendConfig, is_replaced: bool
) -> None:
    change = taken(config([old]), config([new]))
    assert [c.new for c in change.replaced] == ([new] if is_replaced else [])


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ([backend("a")], [backend("b", "http://a:1/v1")], ["a b"]),
        ([backend("a")], [backend("b", "http://a:2")], []),
        ([backend("a"), backend("b")], [backend("x", "http://b:1")], ["b x"]),
        ([backend("a"), backend("b", "http://a:1")], [backend("x", "http://a:1")], ["a x"]),
        ([backend("a", enabled=False)], [backend("b", "http://a:1")], []),
        ([backend("a")], [backend("b", "http://a:1", enabled=False)], []),
        ([backend("a")], [backend("a", "http://b:1"), backend("b", "http://a:1")], []),
    ],
)  # fmt: skip
def test_renamed(old: list[BackendConfig], new: list[BackendConfig], pairs: list[str]) -> None:
    change = taken(config(old), config(new))
    assert [f"{r.old.name} {r.new.name}" for r in change.renamed] == pairs
    for renamed in change.renamed:
        assert isinstance(renamed, Renamed)
        assert renamed.old in change.backends.removed
        assert renamed.new in change.backends.added


def test_a_disabled_model_of_the_same_name_is_not_taken_for_the_enabled_one() -> None:
    on, off = model("m", "a"), model("m", "b", enabled=False)
    change = taken(config(models=[off, on]), config(models=[on]))
    assert change.models.removed == (off,)
    assert not change.models.changed
    assert change.service.names == ()
    change = taken(config(models=[off, on]), config(models=[model("m", "c")]))
    assert [c.old for c in change.models.changed] == [on]


def test_members_by_name_and_by_selector() -> None:
    pool = {"labels": Labels({"pool": "x"})}
    by_selector = ModelConfig(name="s", selector=Labels({"pool": "x"}))
    ref = BackendRef(backend="b", served_name="lora")
    old = config(
        [backend("a", **pool), backend("b"), backend("c")],
        [by_selector, model("m", "a", "b"), model("only", "c"), model("gone", "c")],
    )
    new = config(
        [backend("a"), backend("b", **pool), backend("c", enabled=False)],
        [by_selector, model("m", ref, "a"), model("only", "c"), model("new", "b")],
    )
    service = taken(old, new).service
    assert service.lost == (Membership("a", ("s",)), Membership("c", ("only",)))
    assert service.gained == (Membership("b", ("s",)),)
    assert service.served_names == (OtherServedName("m", "b", "q", "lora"),)
    assert service.unserved == ("only",)


def test_one_backend_of_many_models_is_told_once() -> None:
    old = config([backend("a"), backend("b")], [model("m", "a", "b"), model("n", "b", "a")])
    new = config([backend("b")], [model("m", "b"), model("n", "b")])
    assert taken(old, new).service.lost == (Membership("a", ("m", "n")),)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ([model("m")], [], [Name("m", "m", None)]),
        ([model("m")], [model("m", enabled=False)], [Name("m", "m", None)]),
        ([model("m", enabled=False)], [], []),
        ([], [model("m", aliases=("x",))], [Name("m", None, "m"), Name("x", None, "m")]),
        ([model("m")], [model("n", aliases=("m",))], [Name("m", "m", "n"), Name("n", None, "n")]),
        ([model("m", aliases=("x", "y"))], [model("m", aliases=("y",))], [Name("x", "m", None)]),
        ([model("m", aliases=("x", "y"))], [model("m", aliases=("y", "x"))], []),
        (
            [model("m", aliases=("x",)), model("n")],
            [model("m"), model("n", aliases=("x",))],
            [Name("x", "m", "n")],
        ),
    ],
)
def test_names_that_clients_send(
    old: list[ModelConfig], new: list[ModelConfig], names: list[Name]
) -> None:
    assert list(taken(config(models=old), config(models=new)).service.names) == names

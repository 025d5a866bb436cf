"""The small tables behind the rules: addresses, capture grid, caps, time-outs, versions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.config.backend import BackendConfig
from gateway.config.capture import concurrency_cap, default_capture_sizes
from gateway.config.export import routing_yaml
from gateway.config.load import load_text, version_hash
from gateway.config.schema import BackendRef, ModelConfig, RoutingConfig, Timeouts
from gateway.config.timeouts import effective_timeouts
from gateway.config.url import UrlProblem, parse_backend_url
from gateway.config.vocabulary import Chip, Tier


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("http://h:1", "http://h:1"),
        ("http://h:1/", "http://h:1"),
        ("http://h:1/v1", "http://h:1"),
        ("http://h:1/v1/", "http://h:1"),
        ("http://h:1//v1//", "http://h:1"),
        ("http://h:1/pre/v1/", "http://h:1/pre"),
        ("http://h:1/pre", "http://h:1/pre"),
        ("http://h", "http://h:80"),
        ("HTTPS://h", "https://h:443"),
        ("http://[::1]:5/v1", "http://[::1]:5"),
        ("http://h:1/v11", "http://h:1/v11"),
    ],
)
def test_every_spelling_of_an_address(text: str, base: str) -> None:
    assert parse_backend_url(text).base == base


@pytest.mark.parametrize(
    "text",
    ["", "h:1", "ftp://h", "http://", "http://h:x", "http://h:0", "http://::1:5", "http://a b",
     "http://h?x", "http://h#x", "http://u@h", "http://h:70000", "http://h/ä"],
)  # fmt: skip
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UrlProblem) as caught:
        parse_backend_url(text)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("max_num_seqs", "largest", "count"),
    [(1, 1, 1), (4, 4, 3), (7, 4, 3), (8, 8, 4), (12, 8, 4), (20, 16, 5), (77, 72, 12),
     (256, 256, 35), (300, 288, 37), (1000, 512, 51)],
)  # fmt: skip
def test_the_grid_of_captured_sizes(max_num_seqs: int, largest: int, count: int) -> None:
    sizes = default_capture_sizes(max_num_seqs)
    assert (sizes[-1], len(sizes)) == (largest, count)


@pytest.mark.parametrize(
    ("fields", "cap"),
    [
        ({"capture_sizes": (1, 4), "max_num_seqs": 8}, (4, 8)),
        ({"capture_sizes": (1, 2, 4, 8), "max_num_seqs": 40}, (8, 40)),
        ({"capture_sizes": (1, 4, 16), "max_num_seqs": 8}, (4, 8)),
        ({"capture_sizes": (16,), "max_num_seqs": 8}, (8, 8)),
        ({"max_num_seqs": 8}, (8, 8)),
        ({"tier": Tier.EAGER, "capture_sizes": (4,), "max_num_seqs": 8}, (8, 8)),
        ({}, (256, 256)),
    ],
)
def test_caps(fields: dict[str, object], cap: tuple[int, int]) -> None:
    backend = BackendConfig(name="b", url="http://h:1", served_name="m", **fields)  # type: ignore[arg-type]
    assert concurrency_cap(backend) == cap


@pytest.mark.parametrize(
    ("given_", "tier", "is_stream", "first_byte_s", "between_s", "total_s"),
    [
        (Timeouts(), Tier.GRAPH, True, 300, 60, 3600),
        (Timeouts(), Tier.EAGER, True, 300, 120, 3600),
        (Timeouts(), Tier.GRAPH, False, 3600, 60, 3600),
        (Timeouts(total_s=900), Tier.GRAPH, False, 900, 60, 900),
        (Timeouts(first_byte_s=7), Tier.GRAPH, True, 7, 60, 3600),
        (Timeouts(first_byte_s=7), Tier.GRAPH, False, 7, 60, 3600),
    ],
)
def test_time_limits(
    given_: Timeouts,
    tier: Tier,
    is_stream: bool,
    first_byte_s: float,
    between_s: float,
    total_s: float,
) -> None:
    found = effective_timeouts(given_, tier, is_stream=is_stream)
    limits = (found.first_byte_s, found.between_events_s, found.total_s)
    assert limits == (first_byte_s, between_s, total_s)


NAMES = st.text("abcXYZ019._-", min_size=1, max_size=12)
TEXTS = st.text(min_size=1, max_size=20).filter(
    lambda text: text == text.strip() and text.isprintable()
)


@st.composite
def configs(draw: st.DrawFn) -> RoutingConfig:
    """A valid routing file of some backends and models."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    backends = tuple(
        BackendConfig(
            name=name,
            url=f"http://host-{index}:{1000 + index}{draw(st.sampled_from(['', '/pre', '/v1']))}",
            served_name=draw(TEXTS),
            root=draw(st.none() | TEXTS),
            tier=draw(st.sampled_from(Tier)),
            chip=draw(st.none() | st.sampled_from(Chip)),
            npus=draw(st.sampled_from([(), (0,), (0, 1), (2, 3)])),
            max_num_seqs=draw(st.none() | st.integers(1, 512)),
            capture_sizes=draw(st.sampled_from([(), (1, 4), (1, 2, 4, 8)])),
            weight=draw(st.floats(0.1, 10)),
            labels=draw(st.dictionaries(NAMES, TEXTS, max_size=2)),  # type: ignore[arg-type]
            enabled=draw(st.booleans()),
        )
        for index, name in enumerate(names)
    )
    publics = draw(st.lists(TEXTS, min_size=1, max_size=3, unique_by=str.casefold))
    models = tuple(
        ModelConfig(
            name=name,
            backends=tuple(
                BackendRef(backend=b, served_name=draw(st.none() | TEXTS)) for b in names
            ),
            enabled=draw(st.booleans()),
        )
        for name in publics
    )
    return RoutingConfig(version=1, backends=backends, models=models)


@given(configs())
def test_what_is_written_loads_as_it_was(config: RoutingConfig) -> None:
    loaded = load_text(routing_yaml(config), "written.yaml")
    assert loaded.config == config, loaded.render()
    assert loaded.version_hash == version_hash(config)

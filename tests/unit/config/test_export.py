"""What is written loads as it was, for every field; and the schema says what loads."""

import json
from pathlib import Path

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.config.backend import BackendConfig, TlsConfig
from gateway.config.export import (
    SCHEMA_DIALECT,
    SCHEMA_LINE,
    routing_schema,
    routing_schema_text,
    routing_yaml,
)
from gateway.config.labels import Labels
from gateway.config.load import load_file, load_text, version_hash
from gateway.config.schema import (
    BackendRef,
    EndpointSwitches,
    Limits,
    ModelConfig,
    RoutingConfig,
    Timeouts,
)
from gateway.config.vocabulary import Chip, EndpointName, Tier

ROOT = Path(__file__).resolve().parents[3]
NAMES = st.text("abcXYZ019._-", min_size=1, max_size=8)
# Texts that YAML could take for something else stand beside arbitrary ones.
TEXTS = st.sampled_from(
    ["yes", "null", "~", "12:30", "1e3", "0x1F", "007", "=", "<<", "- a", "a: b", "# c", "'", '"',
     "2024-01-02", "%TAG", "[x", "a\u2028b", "\ufeffx", "\U0001f600", "\ufffe"]
) | st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12).filter(
    lambda text: text == text.strip()
)  # fmt: skip
COUNTS = st.integers(1, 2**53)
SECONDS = st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_nan=False)


def optional(values):
    return st.none() | values


TLS = st.builds(
    TlsConfig,
    ca_file=optional(TEXTS),
    cert_file=TEXTS,
    key_file=optional(TEXTS),
    server_name=optional(TEXTS),
    verify=st.booleans(),
)
MODEL_FIELDS = st.fixed_dictionaries(
    {
        "list_aliases": optional(st.booleans()),
        "enabled": st.booleans(),
        "limits": st.builds(
            Limits,
            max_body_bytes=optional(COUNTS),
            max_output_tokens=optional(COUNTS),
            max_context_tokens=optional(COUNTS),
        ),
        "timeouts": st.builds(
            Timeouts,
            connect_s=optional(SECONDS),
            first_byte_s=optional(SECONDS),
            between_events_s=optional(SECONDS),
            total_s=optional(SECONDS),
        ),
        "endpoints": optional(st.lists(st.sampled_from(EndpointName), max_size=3).map(tuple)),
    }
)


@st.composite
def backends(draw, name, index):
    prefix = draw(st.sampled_from(["", "/", "/v1", "/pre/v1/"]))
    key = draw(st.sampled_from([{}, {"api_key_env": "KEY"}, {"api_key_file": "/run/key"}]))
    return BackendConfig(
        name=name,
        url=f"https://host-{index}:{1000 + index}{prefix}",
        served_name=draw(TEXTS),
        root=draw(optional(TEXTS)),
        tier=draw(st.sampled_from(Tier)),
        node=f"node-{index}",
        npus=draw(st.sampled_from([(), (0,), (0, 1), (3, 2)])),
        card=draw(optional(TEXTS)),
        chip=draw(optional(st.sampled_from(Chip))),
        tensor_parallel=draw(optional(COUNTS)),
        max_num_seqs=draw(optional(COUNTS)),
        capture_sizes=tuple(sorted(draw(st.sets(COUNTS, max_size=4)))),
        max_model_len=draw(optional(COUNTS)),
        max_num_batched_tokens=draw(optional(COUNTS)),
        quantization=draw(optional(TEXTS)),
        weight=draw(SECONDS),
        container=draw(optional(TEXTS)),
        labels=Labels(draw(st.dictionaries(TEXTS, TEXTS, max_size=2))),
        tls=draw(optional(TLS)),
        enabled=draw(st.booleans()),
        **key,
    )


@st.composite
def models(draw, name, aliases, publics, members):
    """One model; `members` may be chosen by name or by a selector that finds the first."""
    if draw(st.booleans()):
        chosen = {"selector": Labels({"node": "node-0"})}
    else:
        chosen = {
            "backends": tuple(
                BackendRef(backend=member, served_name=draw(optional(TEXTS))) for member in members
            )
        }
    others = tuple(public for public in publics if public != name)
    return ModelConfig(
        name=name, aliases=aliases, fallback_models=others, **chosen, **draw(MODEL_FIELDS)
    )


@st.composite
def configs(draw):
    """A routing file without errors, in which every field may be set."""
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    publics = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    cut = draw(st.integers(1, len(publics)))
    own, spare = publics[:cut], tuple(publics[cut:])
    listed = [draw(models(public, spare if public == own[0] else (), own, names)) for public in own]
    on = [model.name for model in listed if model.enabled]
    return RoutingConfig(
        version=1,
        backends=tuple(draw(backends(name, index)) for index, name in enumerate(names)),
        models=tuple(listed),
        default_model=draw(st.sampled_from(on)) if on and draw(st.booleans()) else None,
        list_aliases=draw(st.booleans()),
        endpoints=EndpointSwitches(**{name.value: draw(st.booleans()) for name in EndpointName}),
    )


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(configs())
def test_what_is_written_loads_as_it_was(config):
    written = routing_yaml(config)
    loaded = load_text(written, "written.yaml")
    assert loaded.config == config, loaded.render()
    assert loaded.version_hash == version_hash(config)
    assert routing_yaml(loaded.config) == written


def test_the_examples_are_written_as_they_are():
    for path in sorted((ROOT / "config").glob("*.yaml")):
        config = load_file(path).config
        if path.name != "emulated-fleet.yaml":
            assert load_text(SCHEMA_LINE + routing_yaml(config), "f").config == config


def test_defaults_are_not_written():
    config = RoutingConfig(
        version=1,
        backends=(BackendConfig(name="a", url="http://a:1", served_name="x"),),
        models=(ModelConfig(name="m", backends=(BackendRef(backend="a"),)),),
    )
    assert yaml.safe_load(routing_yaml(config)) == {
        "version": 1,
        "backends": [{"name": "a", "url": "http://a:1", "served_name": "x"}],
        "models": [{"name": "m", "backends": ["a"]}],
    }


def test_schema():
    schema = routing_schema()
    assert json.loads(routing_schema_text()) == schema
    assert schema["$schema"] == SCHEMA_DIALECT
    assert set(schema["required"]) == {"version", "backends", "models"}
    records = [schema, *(part for part in schema["$defs"].values() if "properties" in part)]
    assert all(part["additionalProperties"] is False for part in records)
    assert schema["$defs"]["BackendConfig"]["properties"]["name"]["description"]
    assert {form["type"] for form in _ref_forms(schema)} == {"string", "object"}


def _ref_forms(schema):
    return schema["$defs"]["ModelConfig"]["properties"]["backends"]["items"]["anyOf"]

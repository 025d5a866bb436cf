import pytest
from pydantic import ValidationError

from gateway.config.labels import Labels
from gateway.config.schema import BackendConfig, EndpointName, EndpointSwitches, ModelConfig

BACKEND = BackendConfig(name="a", url="http://A:1/v1/", served_name="x", labels=Labels({"b": "c"}))


def test_records_are_frozen_and_hashable():
    with pytest.raises(ValidationError):
        BACKEND.name = "b"
    assert len({BACKEND, BACKEND.model_copy()}) == 1


@pytest.mark.parametrize(
    ("url", "base_url", "node"),
    [
        ("http://h:1", "http://h:1", "h"),
        ("http://h:1/pre/v1/", "http://h:1/pre", "h"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1", "localhost"),
        ("http://[::1]:1/v1", "http://[::1]:1", "localhost"),
        ("https://h", "https://h:443", "h"),
    ],
)
def test_address_and_node(url, base_url, node):
    backend = BackendConfig(name="a", url=url, served_name="x")
    assert (backend.base_url, backend.node_name) == (base_url, node)
    assert backend.url == url


def test_labels_are_a_mapping_of_values():
    one, other = Labels({"b": "2", "a": "1"}), Labels({"a": "1", "b": "2"})
    assert one == other
    assert hash(one) == hash(other)
    assert (list(one), len(one), one["b"]) == (["a", "b"], 2, "2")
    assert repr(one) == "Labels({'a': '1', 'b': '2'})"


def test_every_endpoint_has_a_switch():
    assert list(EndpointSwitches.model_fields) == [name.value for name in EndpointName]
    switches = EndpointSwitches(tokenize=False)
    assert [name for name in EndpointName if not switches.is_on(name)] == ["tokenize"]


def test_endpoints_of_a_model():
    model = ModelConfig(name="m")
    assert all(model.allows(name) for name in EndpointName)
    narrow = ModelConfig(name="m", endpoints=(EndpointName.CHAT,))
    assert [name for name in EndpointName if narrow.allows(name)] == ["chat"]

import pytest

from gateway.config.members import all_members, members
from gateway.config.schema import RoutingConfig

CONFIG = RoutingConfig.model_validate(
    {
        "version": 1,
        "backends": [
            {"name": "a", "url": "http://a:1", "served_name": "x", "labels": {"site": "north"}},
            {
                "name": "b",
                "url": "http://b:1",
                "served_name": "y",
                "tier": "eager",
                "chip": "310P",
                "card": "card-1",
                "labels": {"site": "north"},
            },
            {"name": "c", "url": "http://c:1", "served_name": "z", "node": "n", "enabled": False},
        ],
        "models": [
            {"name": "listed", "backends": ["c", {"backend": "b", "served_name": "lora"}, "a"]},
            {"name": "unknown", "backends": ["nobody", "a"]},
            {"name": "north", "selector": {"site": "north"}},
            {"name": "eager", "selector": {"tier": "eager", "chip": "310P", "card": "card-1"}},
            {"name": "node", "selector": {"node": "n"}},
            {"name": "host", "selector": {"node": "a"}},
            {"name": "nothing", "selector": {"site": "south"}},
        ],
    }
)
MODELS = {model.name: model for model in CONFIG.models}


@pytest.mark.parametrize(
    ("model", "enabled", "everything"),
    [
        ("listed", ["b/lora", "a/x"], ["c/z", "b/lora", "a/x"]),
        ("unknown", ["a/x"], ["a/x"]),
        ("north", ["a/x", "b/y"], ["a/x", "b/y"]),
        ("eager", ["b/y"], ["b/y"]),
        ("node", [], ["c/z"]),
        ("host", ["a/x"], ["a/x"]),
        ("nothing", [], []),
    ],
)
def test_members(model, enabled, everything):
    def shown(found):
        return [f"{member.backend.name}/{member.served_name}" for member in found]

    assert shown(members(CONFIG, MODELS[model])) == enabled
    assert shown(all_members(CONFIG.backends, MODELS[model])) == everything

import pytest

from gateway.adoption.containers.mounts import mounts_of, read_mount, read_volume
from gateway.adoption.sources import Mount


@pytest.mark.parametrize(
    ("text", "mount"),
    [
        ("/data/models:/models", Mount("/data/models", "/models")),
        ("/data/models:/models:ro", Mount("/data/models", "/models")),
        ("./models:/models:ro,z", Mount("./models", "/models")),
        ("cache:/root/.cache", Mount("cache", "/root/.cache")),
        ("/only/inside", None),
        (":/models", None),
        ("/data:", None),
        ("", None),
    ],
)
def test_volumes(text: str, mount: Mount | None) -> None:
    assert read_volume(text) == mount


@pytest.mark.parametrize(
    ("text", "mount"),
    [
        ("type=bind,source=/a,target=/b", Mount("/a", "/b")),
        ("type=bind,src=/a,dst=/b,readonly", Mount("/a", "/b")),
        ("type=volume,source=v,destination=/b", Mount("v", "/b")),
        ('type=bind,"source=/a,b",target=/c', Mount("/a,b", "/c")),
        ("TYPE=bind, Source=/a , target=/b", Mount("/a", "/b")),
        ("type=tmpfs,target=/run", None),
        ("", None),
        ('"\0', None),
    ],
)
def test_mounts(text: str, mount: Mount | None) -> None:
    assert read_mount(text) == mount


def test_each_is_named_once() -> None:
    found = mounts_of(["/a:/b", "/a:/b:ro"], ["type=bind,src=/a,dst=/b", "type=bind,src=/c,dst=/d"])
    assert found == (Mount("/a", "/b"), Mount("/c", "/d"))

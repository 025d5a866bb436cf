"""No secret is shipped, and none gets into an image, an environment or a command line."""

import re
from pathlib import Path

import pytest
import yaml

from tests.deploy.gateway_tools import DEPLOY, ROOT, run
from tests.deploy.test_gateway_files import DOCKERFILES, compose

OURS = ("compose", "docker", "grafana", "offline", "prometheus", "systemd")
FILES = tuple(
    sorted(path for part in OURS for path in (DEPLOY / part).rglob("*") if path.is_file())
)
# A key or password with a value, not one that is read from somewhere.
GIVEN = re.compile(
    r"(?i)(?:password|passwd|secret|token|client_keys|admin_keys|api_key)\w*\s*[=:]\s*"
    r"['\"]?(?![\s'\"$/{(<\[]|PASSWORD)(\S+)"
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(DEPLOY)))
def test_no_file_has_a_secret_in_it(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert "BEGIN PRIVATE KEY" not in text
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("#", "- "))]
    found = [match for line in lines for match in GIVEN.findall(line)]
    assert not found
    assert not re.search(r"^(requirepass|masterauth) ", text, re.MULTILINE)
    assert not re.search(r"redis://[^\s\"]*:(?!\$|PASSWORD)[^\s\"@]+@", text)


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda file: file.name)
def test_images_take_no_secret(file: Path) -> None:
    names = re.findall(r"(?:ARG|ENV) (\w+)|^ +(\w+)=", file.read_text(encoding="utf-8"), re.M)
    flat = {name for pair in names for name in pair if name}
    assert not [name for name in flat if re.search("KEY|PASSWORD|SECRET|TOKEN|STORE_URL", name)]


def test_compose_reads_secrets_from_files_only() -> None:
    whole = compose()
    for secret in whole["secrets"].values():
        assert secret["file"].startswith("./secrets/")
    for name, service in whole["services"].items():
        for variable, value in service.get("environment", {}).items():
            if re.search("KEY|PASSWORD|SECRET|TOKEN|STORE_URL", variable):
                assert str(value).startswith("/run/secrets/"), f"{name}: {variable}"


def test_git_never_takes_secrets_of_an_installation() -> None:
    for name in (".env", "secrets/client_keys", "secrets/redis_password"):
        done = run("git", "check-ignore", "--quiet", f"deploy/compose/{name}", cwd=ROOT)
        if done.returncode == 128:
            pytest.skip("not a git work tree")
        assert done.returncode == 0, name


def test_the_example_of_env_has_every_variable_of_the_compose_file() -> None:
    text = (DEPLOY / "compose" / "compose.yaml").read_text(encoding="utf-8")
    wanted = set(re.findall(r"(?<!\$)\$\{(\w+):-", text))
    example = (DEPLOY / "compose" / ".env.example").read_text(encoding="utf-8")
    assert set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE)) == wanted
    assert yaml.safe_load(text)["name"] == "ascend-gateway"

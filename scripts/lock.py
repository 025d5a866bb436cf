"""Write requirements.lock and requirements-dev.lock with plain pip.

Run by `make lock` with any Python >= 3.11. pip resolves the newest versions for the Python that
runs this; what only other supported Pythons need is read from the metadata of the chosen versions
and added with its marker. Then pip confirms that each locked file has a wheel for every supported
Python on x86-64 and aarch64. No hashes and no addresses are written, so any mirror will do.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pip._vendor.packaging.markers import Marker
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")
HEADER = "# Made by `make lock` from pyproject.toml. Do not edit by hand.\n"

# The oldest patch release counts too: Debian 12 ships 3.11.2.
ENVIRONMENTS = [
    {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "platform_machine": machine,
        "sys_platform": "linux",
        "platform_system": "Linux",
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    for python in PYTHONS
    for machine in MACHINES
]


def report(*arguments: str) -> list[dict[str, Any]]:
    """What pip would install, as its JSON report says."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "-qq", "--report", "-"]
    done = subprocess.run([*command, *arguments], stdout=subprocess.PIPE, check=True, text=True)
    installed: list[dict[str, Any]] = json.loads(done.stdout)["install"]
    return installed


def needed_elsewhere(items: list[dict[str, Any]]) -> list[tuple[str, Marker]]:
    """Requirements that some supported environment has and this one lacks, with their markers."""
    chosen = {canonicalize_name(item["metadata"]["name"]) for item in items}
    found: dict[str, tuple[str, Marker]] = {}
    for item in items:
        extras = item.get("requested_extras") or [""]
        for text in item["metadata"].get("requires_dist") or []:
            requirement = Requirement(text)
            marker, name = requirement.marker, canonicalize_name(requirement.name)
            if marker is None or name in chosen or "extra" in str(marker):
                continue
            if any(marker.evaluate({**env, "extra": e}) for env in ENVIRONMENTS for e in extras):
                found[name] = (f"{requirement.name}{requirement.specifier}", marker)
    return list(found.values())


def lock(target: str) -> list[str]:
    """The lines of the lock for `target`, such as `.` or `.[dev]`."""
    items = report("--ignore-installed", target)
    lines = []
    for item in items:
        name, version = item["metadata"]["name"], item["metadata"]["version"]
        if canonicalize_name(name) != "ascend-gateway":
            lines.append(f"{canonicalize_name(name)}=={version}")
    for requirement, marker in needed_elsewhere(items):
        (item,) = report("--ignore-installed", "--no-deps", requirement)
        name, version = canonicalize_name(item["metadata"]["name"]), item["metadata"]["version"]
        lines.append(f"{name}=={version}; {marker}".replace('"', "'"))
    return sorted(lines)


def confirm_wheels(path: Path) -> None:
    """Fail unless every locked version has a wheel for each supported Python and machine."""
    for python in PYTHONS:
        for machine in MACHINES:
            platforms = [
                f"--platform={tag}_{machine}"
                for tag in ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
            ]
            with tempfile.TemporaryDirectory() as target:
                report(
                    "--no-deps",
                    "--only-binary=:all:",
                    f"--python-version={python}",
                    *platforms,
                    f"--target={target}",
                    f"--requirement={path}",
                )
            print(f"{path.name}: wheels for Python {python} on {machine}: all there")


def main() -> None:
    for target, file in ((".", "requirements.lock"), (".[dev]", "requirements-dev.lock")):
        path = ROOT / file
        lines = lock(f"{ROOT}{target[1:]}")
        path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
        print(f"{file}: {len(lines)} packages")
        confirm_wheels(path)


if __name__ == "__main__":
    main()

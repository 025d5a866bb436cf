"""Where the state of a gateway lives that survives a restart."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from gateway.settings import Settings


def state_folder(settings: Settings, environ: Mapping[str, str]) -> Path | None:
    """Where the state of the gateway with this routing file lives; None without a file or place.

    The first of STATE_DIRECTORY counts (systemd.exec(5)); a relative XDG_STATE_HOME is passed over
    (XDG specification). Links are not followed, so a ConfigMap's folder stays when its link turns.
    """
    file = settings.config_file
    xdg, home = (environ.get(name, "") for name in ("XDG_STATE_HOME", "HOME"))
    shared = xdg if os.path.isabs(xdg) else f"{home}/.local/state" if os.path.isabs(home) else ""
    base = settings.state_dir or environ.get("STATE_DIRECTORY", "").partition(":")[0]
    base = base or (shared and f"{shared}/ascend-gateway")
    if file is None or not base:
        return None
    digest = hashlib.sha256(os.fsencode(os.path.abspath(file))).hexdigest()
    return Path(base, f"{file.stem}-{digest[:8]}")

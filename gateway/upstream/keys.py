"""The keys that backends ask for, from where the routing file says they are."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from gateway.config.backend import BackendConfig


def read_backend_keys(
    backends: Iterable[BackendConfig], environ: Mapping[str, str]
) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    """Keys by enabled backend, and for each backend whose key is not to be had, what is missing.

    A backend without its key is still asked, without one: it may not need it, and its own 401
    tells the rest. Never falls back to a client's key.
    """
    found: dict[str, bytes] = {}
    missing: list[tuple[str, str]] = []
    for backend in backends:
        if not backend.enabled:
            continue
        try:
            key = _key(backend, environ)
        except (OSError, ValueError, KeyError) as error:
            missing.append((backend.name, _told(backend, error)))
            continue
        if key is not None:
            found[backend.name] = key
    return found, missing


def _key(backend: BackendConfig, environ: Mapping[str, str]) -> bytes | None:
    if backend.api_key_env is not None:
        text = environ[backend.api_key_env]
    elif backend.api_key_file is not None:
        text = Path(backend.api_key_file).read_text(encoding="utf-8-sig")
    else:
        return None
    key = text.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("it is empty or has characters that no header can carry")
    return key.encode("ascii")


def _told(backend: BackendConfig, error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"the variable {backend.api_key_env} of api_key_env is not set"
    if isinstance(error, OSError):
        return f"{backend.api_key_file} of api_key_file can't be read: {error.strerror}"
    return f"the key of api_key_env or api_key_file is not usable: {error}"

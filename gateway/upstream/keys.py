"""The keys that backends ask for, from where the routing file says they are."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from gateway.config.backend import BackendConfig
from gateway.words import Words


def read_backend_keys(
    backends: Iterable[BackendConfig], environ: Mapping[str, str]
) -> tuple[dict[str, bytes], list[tuple[str, Words]]]:
    """Keys by enabled backend, and for each backend whose key is not to be had, what is missing.

    A backend without its key is still asked, without one: it may not need it, and its own 401
    tells the rest. Never falls back to a client's key.
    """
    found: dict[str, bytes] = {}
    missing: list[tuple[str, Words]] = []
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
        raise ValueError("not a key")
    return key.encode("ascii")


def _told(backend: BackendConfig, error: Exception) -> Words:
    if isinstance(error, KeyError):
        return Words(
            f"the variable {backend.api_key_env} of api_key_env is not set",
            f"api_key_env 指定的变量 {backend.api_key_env} 没有设置",
        )
    if isinstance(error, OSError):
        return Words(
            f"{backend.api_key_file} of api_key_file can't be read: {error.strerror}",
            f"api_key_file 指定的 {backend.api_key_file} 无法读取：{error.strerror}",
        )
    return Words(
        "the key of api_key_env or api_key_file is empty, or has characters that no header can "
        "carry",
        "api_key_env 或 api_key_file 给出的密钥为空，或含有请求头不能携带的字符",
    )

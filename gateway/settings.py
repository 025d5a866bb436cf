"""Process settings: where to listen, who may come in, how long to wait.

Each has one name: the field `drain_s` is the variable ASCEND_GATEWAY_DRAIN_S and the flag
--drain-s. A flag wins over the variable, the variable over the default. Keys have no flags, since
command lines are visible to every user of the machine.
"""

import ipaddress
import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BeforeValidator, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

ENV_PREFIX: Final = "ASCEND_GATEWAY_"
REQUEST_ID_HEADER: Final = "x-request-id"

_KEY_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


class LogLevel(StrEnum):
    """The least severe lines that are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """`json`: one object a line. `text`: for reading at a terminal."""

    JSON = "json"
    TEXT = "text"


def _listed(value: object) -> object:
    """A text counts as a list separated by commas or white space."""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, str):
        return tuple(part for part in re.split(r"[,\s]+", value) if part)
    return tuple(value) if isinstance(value, list) else value


def _present(value: object) -> object:
    """An empty variable counts as not set."""
    return None if value == "" else value


Keys = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_listed)]
Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]
OptionalPath = Annotated[Path | None, BeforeValidator(_present)]
OptionalText = Annotated[str | None, BeforeValidator(_present)]
OptionalSecret = Annotated[SecretStr | None, BeforeValidator(_present)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
SecondsOrNone = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Settings(BaseSettings):
    """The settings of one gateway process."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
    )

    config_file: OptionalPath = Field(default=None, description="The routing file.")
    watch_config: bool = Field(
        default=True, description="Load the routing file again when it changes."
    )
    removed_drain_s: SecondsOrNone = Field(
        default=600.0,
        description="Seconds that requests may take at a backend which left the routing file.",
    )
    config_history: int = Field(
        default=50, ge=1, description="Versions of the routing file that are kept to go back to."
    )
    state_dir: OptionalPath = Field(
        default=None,
        description="Folder for what survives a restart (drained backends, kept versions); empty: "
        "$STATE_DIRECTORY, $XDG_STATE_HOME/ascend-gateway or ~/.local/state/ascend-gateway.",
    )
    host: str = Field(
        default="127.0.0.1", description="Address to listen on; IPv6 with or without brackets."
    )
    port: int = Field(
        default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one."
    )
    tls_cert_file: OptionalPath = Field(
        default=None,
        description="Certificate and its chain (PEM); with it the gateway listens with HTTPS.",
    )
    tls_key_file: OptionalPath = Field(
        default=None, description="Private key of that certificate (PEM), without a password."
    )
    allow_open: bool = Field(
        default=False,
        description="Listen beyond loopback although no client keys are set: whoever reaches the "
        "port may use every model.",
    )
    client_keys: Keys = Field(
        default=(),
        description="Keys of clients, `KEY` or `NAME=KEY`, separated by commas or white space. "
        "The name appears in logs, the key never.",
    )
    client_keys_file: OptionalPath = Field(
        default=None,
        description="File with one client key a line, `KEY` or `NAME=KEY`; `#` begins a comment.",
    )
    admin_keys: Keys = Field(default=(), description="Keys of administrators, in the same form.")
    admin_keys_file: OptionalPath = Field(
        default=None, description="File with one administrator key a line."
    )
    cors_origins: Words = Field(
        default=(),
        description="Origins of browser applications that may call the gateway, such as "
        "https://chat.example.org; `*` for any.",
    )
    keep_alive_s: Seconds = Field(
        default=75.0, description="Seconds an idle connection of a client is kept open."
    )
    drain_s: SecondsOrNone = Field(
        default=120.0,
        description="Seconds that running requests may take to finish after SIGTERM; then their "
        "clients get an error event.",
    )
    drain_grace_s: SecondsOrNone = Field(
        default=0.0,
        description="Seconds after SIGTERM in which new requests are still served while /readyz "
        "already says 503, so that load balancers can notice.",
    )
    max_body_bytes: int = Field(
        default=64 * 1024 * 1024, gt=0, description="Largest request body; larger ones get 413."
    )
    max_header_bytes: int = Field(
        default=64 * 1024, ge=4096, description="Largest head of a request, all headers together."
    )
    head_s: Seconds = Field(
        default=30.0,
        description="Seconds in which a client must have sent the whole head of a request.",
    )
    probe_interval_s: Seconds = Field(
        default=5.0, description="Seconds between two probes of a backend."
    )
    probe_timeout_s: Seconds = Field(
        default=5.0, description="Seconds after which a probe counts as failed."
    )
    scrape_interval_s: Seconds = Field(
        default=1.0, description="Seconds between two looks at a backend's /metrics."
    )
    max_connections_per_backend: int = Field(
        default=2048, gt=0, description="Connections that may be open to one backend."
    )
    pool_wait_s: Seconds = Field(
        default=5.0, description="Seconds a request waits for a free connection to a backend."
    )
    backlog: int = Field(
        default=4096, gt=0, description="Connections that may wait to be accepted."
    )
    access_log: bool = Field(default=True, description="Write one line for each request.")
    log_level: LogLevel = Field(
        default=LogLevel.INFO, description="Least severe line written: debug, info, warning, error."
    )
    log_format: LogFormat = Field(
        default=LogFormat.JSON, description="`json` (one object a line) or `text`."
    )
    server_header: OptionalText = Field(
        default=None, description="Value of the `server` header in answers; empty: no such header."
    )
    workers: int = Field(
        default=1, ge=1, le=64, description="Processes that serve on one socket; more need a store."
    )
    store_url: OptionalSecret = Field(
        default=None,
        description="Redis that gateways share: redis://, rediss://, redis+sentinel://HOST,HOST/"
        "MASTER or redis+cluster://HOST,HOST; empty: this process's memory.",
    )
    store_namespace: str = Field(
        default="ascend-gateway",
        pattern=r"^[A-Za-z0-9._-]{1,64}$",
        description="What the store's keys begin with; gateways of one fleet have the same.",
    )

    @field_validator("host")
    @classmethod
    def _plain_host(cls, host: str) -> str:
        """`[::1]` and `::1` are the same address."""
        plain = host.strip()
        if plain.startswith("[") and plain.endswith("]"):
            plain = plain[1:-1]
        if not plain or any(ch.isspace() or ch in "[]/" for ch in plain):
            raise ValueError("host must be an address or a name, such as 127.0.0.1, ::1 or 0.0.0.0")
        return plain

    @field_validator("client_keys", "admin_keys")
    @classmethod
    def _usable_keys(cls, keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        named_keys((key.get_secret_value() for key in keys), "key")
        return keys

    @model_validator(mode="after")
    def _closed_unless_told(self) -> Self:
        has_keys = bool(self.client_keys) or self.client_keys_file is not None
        if has_keys or self.allow_open or is_loopback(self.host):
            return self
        raise ValueError(
            f"listening on {self.host} without client keys would open every model to whoever "
            f"reaches the port; set {ENV_PREFIX}CLIENT_KEYS or --client-keys-file, listen on "
            "127.0.0.1, or say --allow-open"
        )

    @model_validator(mode="after")
    def _whole_pair(self) -> Self:
        if (self.tls_cert_file is None) == (self.tls_key_file is None):
            return self
        missing = "key" if self.tls_key_file is None else "cert"
        raise ValueError(
            f"HTTPS needs a certificate and its key: --tls-{missing}-file or "
            f"{ENV_PREFIX}TLS_{missing.upper()}_FILE is missing; set it, or unset the other"
        )

    @model_validator(mode="after")
    def _workers_have_a_store(self) -> Self:
        if self.workers == 1 or self.store_url is not None:
            return self
        raise ValueError(
            f"{self.workers} workers must share what runs where; set {ENV_PREFIX}STORE_URL to a "
            "Redis, or let one process serve"
        )

    def load_client_keys(self) -> tuple[tuple[str, str], ...]:
        """Name and key of each client; raises OSError or ValueError when the file is unusable."""
        return _loaded(self.client_keys, self.client_keys_file, "client")

    def load_admin_keys(self) -> tuple[tuple[str, str], ...]:
        """Name and key of each administrator; raises OSError or ValueError likewise."""
        return _loaded(self.admin_keys, self.admin_keys_file, "admin")


def is_loopback(host: str) -> bool:
    """Whether the address can only be reached from this machine."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def named_keys(lines: Iterable[str], kind: str) -> tuple[tuple[str, str], ...]:
    """Name and key of each line, `NAME=KEY` or `KEY`; unnamed ones become `kind-1`, `kind-2`, ...

    Raises ValueError, never with a key in it.
    """
    found: list[tuple[str, str]] = []
    for number, line in enumerate(lines, start=1):
        name, separator, rest = line.partition("=")
        if not (separator and rest.strip("=") and _KEY_NAME.fullmatch(name)):
            name, rest = f"{kind}-{number}", line
        if not rest.isascii() or not rest.isprintable() or not rest or " " in rest:
            raise ValueError(
                f"{kind} {number} is empty or has characters that no header can carry; use "
                "letters, digits and punctuation"
            )
        if rest in (known for _, known in found):
            raise ValueError(f"{kind} {number} is given twice; remove one")
        if name in (known for known, _ in found):
            raise ValueError(f"the name {name!r} is given to two keys; rename one")
        found.append((name, rest))
    return tuple(found)


def _loaded(
    keys: tuple[SecretStr, ...], file: Path | None, kind: str
) -> tuple[tuple[str, str], ...]:
    lines = [key.get_secret_value() for key in keys]
    if file is not None:
        text = file.read_text(encoding="utf-8-sig")
        stripped = (line.strip() for line in text.splitlines())
        from_file = [line for line in stripped if line and not line.startswith("#")]
        if not from_file:
            raise ValueError(f"{file} holds no keys; write one a line, or unset {kind}_keys_file")
        lines += from_file
    return named_keys(lines, kind)


def unknown_variables(names: Iterable[str]) -> tuple[str, ...]:
    """Variables with our prefix that are no setting: most likely misspelt."""
    known = {f"{ENV_PREFIX}{field}".upper() for field in Settings.model_fields}
    return tuple(
        sorted(n for n in names if n.upper().startswith(ENV_PREFIX) and n.upper() not in known)
    )

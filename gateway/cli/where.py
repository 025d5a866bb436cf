"""The options that say which gateway a command asks, and how it is reached."""

import functools
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from gateway.cli.asking import Gateway
from gateway.cli.options import read_settings
from gateway.settings import ENV_PREFIX, Settings
from gateway.words import Language

F = TypeVar("F", bound=Callable[..., Any])

_ANYWHERE: Final = ("0.0.0.0", "::", "")
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True)
class Where:
    """Which gateway is asked; None for what was not said."""

    url: str | None
    admin_keys_file: Path | None
    ca_file: Path | None
    is_insecure: bool

    def gateway(self, language: Language) -> Gateway:
        """The gateway; raises click.UsageError for an option or a setting that can't be used."""
        # Whether the gateway may be open is not asked here.
        settings = read_settings({"admin_keys_file": self.admin_keys_file, "allow_open": True})
        base = _base(self.url, settings)
        return Gateway(base, _key(settings), self._context(base, settings), language)

    def _context(self, base: str, settings: Settings) -> ssl.SSLContext:
        if not base.startswith("https:"):
            # Any context will do; one for TLS would read all certificates of the system.
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ValueError) as error:
            raise click.UsageError(f"--ca-file {self.ca_file}: can't be used: {error}") from error
        if self.is_insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif self.url is None and self.ca_file is None and settings.tls_cert_file is not None:
            return _own_context(settings.tls_cert_file) or context
        return context


def asks_gateway(command: F) -> F:
    """A decorator: `--url`, `--admin-keys-file`, `--ca-file` and `--insecure`, given as `where`."""

    @functools.wraps(command)
    def with_where(
        *args: Any,
        url: str | None,
        admin_keys_file: Path | None,
        ca_file: Path | None,
        insecure: bool,
        **values: Any,
    ) -> Any:
        where = Where(url, admin_keys_file, ca_file, insecure)
        return command(*args, where=where, **values)

    options: tuple[Callable[[Any], Any], ...] = (
        click.option(
            "--url",
            help="Where the gateway listens, such as http://10.0.0.5:8000; else this machine, at "
            "the port of the settings.",
        ),
        click.option(
            "--admin-keys-file",
            type=_FILE,
            help=f"File whose first key is sent; else {ENV_PREFIX}ADMIN_KEYS_FILE or "
            f"{ENV_PREFIX}ADMIN_KEYS.",
        ),
        click.option(
            "--ca-file",
            type=_FILE,
            help="PEM file of the authorities to trust for https; else those of the system.",
        ),
        click.option("--insecure", is_flag=True, help="Do not check the gateway's certificate."),
    )
    decorated: Any = with_where
    for option in reversed(options):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _base(url: str | None, settings: Settings) -> str:
    """The address of the gateway without a path; `/v1`, which clients need, is taken off."""
    if url is None:
        host = "127.0.0.1" if settings.host in _ANYWHERE else settings.host
        scheme = "http" if settings.tls_cert_file is None else "https"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.port or 8000}"
    base = url.strip().rstrip("/").removesuffix("/v1").rstrip("/")
    return base if "://" in base else f"http://{base}"


def _key(settings: Settings) -> str | None:
    """The first administrator key, if there is one."""
    try:
        keys = settings.load_admin_keys()
    except (OSError, ValueError) as error:
        raise click.UsageError(f"the admin keys can't be used: {error}") from error
    return keys[0][1] if keys else None


def _own_context(cert_file: Path) -> ssl.SSLContext | None:
    """Trusts just the certificate that the gateway of this machine was given, by whatever name.

    None if it can't be read here.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    # So that the certificate itself is trusted, and not only an authority above it.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cafile=cert_file)
    except (OSError, ValueError):
        return None
    return context

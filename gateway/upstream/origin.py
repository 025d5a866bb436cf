"""Where a backend listens: scheme, host, port, path prefix and TLS options."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import urlsplit

DEFAULT_PORTS: Final[Mapping[str, int]] = MappingProxyType({"http": 80, "https": 443})
_PATH = re.compile(r"[!-~]*")


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """How to check a backend's certificate and how to identify ourselves.

    `ca_file` None trusts the system's authorities. `server_name` replaces the host in SNI and in
    the check of the certificate. `verify` False checks nothing.
    """

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    server_name: str | None = None
    verify: bool = True


@dataclass(frozen=True, slots=True)
class Origin:
    """One backend's address; `base_path` is put before every target, b"" or b"/pre"."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    base_path: bytes = b""
    tls: TlsOptions | None = None

    @classmethod
    def parse(cls, url: str, tls: TlsOptions | None = None) -> "Origin":
        """Read `http://host:port/prefix`; raises ValueError that says what is wrong."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            raise ValueError(f"backend URL {url!r} must start with http:// or https://")
        if "@" in parts.netloc:
            raise ValueError(f"the backend URL for {parts.hostname!r} must not hold a password")
        if parts.query or parts.fragment or "?" in url or "#" in url:
            raise ValueError(f"backend URL {url!r} must not have a query or a fragment")
        host = parts.hostname
        if not host or not _PATH.fullmatch(host):
            raise ValueError(f"backend URL {url!r} needs a host name of plain ASCII or an address")
        try:
            port = parts.port
        except ValueError:
            raise ValueError(f"the port of backend URL {url!r} must be 1 to 65535") from None
        if port == 0:
            raise ValueError(f"the port of backend URL {url!r} must be 1 to 65535")
        path = parts.path.rstrip("/")
        if not _PATH.fullmatch(path):
            raise ValueError(f"the path of backend URL {url!r} must be percent-encoded ASCII")
        scheme: Literal["http", "https"] = "https" if parts.scheme == "https" else "http"
        if scheme == "http" and tls is not None:
            raise ValueError(f"backend URL {url!r} has TLS options but is not https://")
        return cls(scheme, host, port or DEFAULT_PORTS[scheme], path.encode("ascii"), tls)

    @property
    def authority(self) -> str:
        """`host:port` for people, always with the port; IPv6 in brackets."""
        return f"{self._bracketed_host}:{self.port}"

    @property
    def host_header(self) -> bytes:
        """The value of the Host header; a scheme's default port is left out (RFC 9110, 7.2)."""
        if self.port == DEFAULT_PORTS[self.scheme]:
            return self._bracketed_host.encode("ascii")
        return self.authority.encode("ascii")

    @property
    def _bracketed_host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

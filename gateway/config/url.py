"""The address of a backend: every accepted spelling, and the one form the gateway uses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

DEFAULT_PORTS: Final[Mapping[str, int]] = MappingProxyType({"http": 80, "https": 443})

_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_VERSION_SUFFIX: Final = re.compile(r"(?:^|/)v1$")
_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
_IPV6: Final = re.compile(r"[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?")
_PATH: Final = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@%/-]*")


@dataclass(frozen=True, slots=True)
class BackendUrl:
    """A backend's address in parts.

    `host` has no brackets, also for IPv6. `prefix` is "" or "/pre": it has no trailing slash and
    no final /v1, since the gateway adds the path of each endpoint itself.
    """

    scheme: str
    host: str
    port: int
    prefix: str

    @property
    def authority(self) -> str:
        """`host:port` as it is written in a URL; IPv6 in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def base(self) -> str:
        """The address to which a path like /v1/models is appended."""
        return f"{self.scheme}://{self.authority}{self.prefix}"

    @property
    def listener(self) -> tuple[str, int]:
        """Host and port for telling whether two addresses mean one listener.

        localhost, 127.0.0.1 and ::1 count as one host.
        """
        host = self.host.lower().rstrip(".")
        return ("localhost" if host in _LOOPBACK_NAMES else host, self.port)


class UrlProblem(ValueError):  # noqa: N818 - it is a finding about a text
    """The text is not an address of a backend; `remedy` says how to mend it."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


_EXAMPLE: Final = "Write it like http://10.0.0.5:12320."


def parse_backend_url(text: str) -> BackendUrl:
    """Read http(s)://host[:port][/prefix][/v1][/]; raises `UrlProblem` with a remedy."""
    if any(ch.isspace() or not ch.isprintable() for ch in text):
        raise UrlProblem(f"{text!r} has white space or control characters in it", _EXAMPLE)
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    if not separator:
        raise UrlProblem(f"{text!r} has no scheme", f"Write http:// before it. {_EXAMPLE}")
    if scheme not in DEFAULT_PORTS:
        raise UrlProblem(f"{scheme!r} is not a scheme the gateway speaks", "Use http or https.")
    if "?" in rest or "#" in rest:
        raise UrlProblem(
            f"{text!r} has a query or a fragment", "Remove everything from the ? or # on."
        )
    authority, slash, path = rest.partition("/")
    if "@" in authority:
        raise UrlProblem(
            "the URL has a user name or password in it",
            "Remove the part before the @ and give the backend's key with api_key_env or "
            "api_key_file.",
        )
    if not _PATH.fullmatch(path):
        raise UrlProblem(f"{text!r} has characters in its path that need %-encoding", _EXAMPLE)
    host, port = _split_authority(authority, text, scheme)
    return BackendUrl(scheme, host, port, _prefix(slash + path))


def _prefix(path: str) -> str:
    trimmed = re.sub("/{2,}", "/", path).strip("/")
    trimmed = _VERSION_SUFFIX.sub("", trimmed)
    return f"/{trimmed}" if trimmed else ""


def _split_authority(authority: str, text: str, scheme: str) -> tuple[str, int]:
    if authority.count(":") > 1 and not authority.startswith("["):
        raise UrlProblem(
            f"{text!r} has an IPv6 address without brackets",
            "Put the address in brackets, like http://[::1]:12320.",
        )
    try:
        parts = urlsplit(f"{scheme}://{authority}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise UrlProblem(f"{text!r} can't be read: {error}", _EXAMPLE) from error
    if not host:
        raise UrlProblem(f"{text!r} has no host", _EXAMPLE)
    if not (_IPV6 if ":" in host else _HOST_NAME).fullmatch(host):
        raise UrlProblem(f"{host!r} is not a host name or an address", _EXAMPLE)
    if port == 0:
        raise UrlProblem(f"{text!r} has port 0", "Give the port on which the engine listens.")
    return host, DEFAULT_PORTS[scheme] if port is None else port

"""The address of a backend: every accepted spelling, and the one form the gateway uses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from types import MappingProxyType
from typing import Final

DEFAULT_PORTS: Final[Mapping[str, int]] = MappingProxyType({"http": 80, "https": 443})

MAX_PORT: Final = 65535

_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_VERSION_SUFFIX: Final = re.compile(r"(?:^|/)v1$")
_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST_NAME: Final = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*\.?")
_ZONE: Final = re.compile(r"[A-Za-z0-9_.-]+")
_AUTHORITY: Final = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]]*))(?::([0-9]{0,5}))?")
_USER: Final = re.compile(r"^([A-Za-z0-9+.-]*://)?.*@", re.DOTALL)
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
        if ":" in host:
            host = IPv6Address(host).compressed
        return ("localhost" if host in _LOOPBACK_NAMES else host, self.port)


class UrlProblem(ValueError):  # noqa: N818 - it is a finding about a text
    """The text is not an address of a backend; `remedy` says how to mend it."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


_EXAMPLE: Final = "Write it like http://10.0.0.5:12320."


def parse_backend_url(text: str) -> BackendUrl:
    """Read http(s)://host[:port][/prefix][/v1][/]; raises `UrlProblem` with a remedy."""
    shown = repr(_USER.sub(r"\1***@", text))  # what stands before an @ may be a password
    if any(ch.isspace() or not ch.isprintable() for ch in text):
        raise UrlProblem(f"{shown} has white space or control characters in it", _EXAMPLE)
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    if not separator:
        raise UrlProblem(f"{shown} has no scheme", f"Write http:// before it. {_EXAMPLE}")
    if scheme not in DEFAULT_PORTS:
        raise UrlProblem(f"{scheme!r} is not a scheme the gateway speaks", "Use http or https.")
    if "?" in rest or "#" in rest:
        raise UrlProblem(
            f"{shown} has a query or a fragment", "Remove everything from the ? or # on."
        )
    authority, slash, path = rest.partition("/")
    if "@" in authority:
        raise UrlProblem(
            "the URL has a user name or password in it",
            "Remove the part before the @ and give the backend's key with api_key_env or "
            "api_key_file.",
        )
    if not _PATH.fullmatch(path):
        raise UrlProblem(f"{shown} has characters in its path that need %-encoding", _EXAMPLE)
    host, port = _split_authority(authority, shown, scheme)
    return BackendUrl(scheme, host, port, _prefix(slash + path))


def _prefix(path: str) -> str:
    trimmed = re.sub("/{2,}", "/", path).strip("/")
    trimmed = _VERSION_SUFFIX.sub("", trimmed)
    return f"/{trimmed}" if trimmed else ""


def _split_authority(authority: str, shown: str, scheme: str) -> tuple[str, int]:
    if authority.count(":") > 1 and not authority.startswith("["):
        raise UrlProblem(
            f"{shown} has an IPv6 address without brackets",
            "Put the address in brackets, like http://[::1]:12320.",
        )
    found = _AUTHORITY.fullmatch(authority)
    if found is None or int(found[3] or 0) > MAX_PORT:
        raise UrlProblem(
            f"{shown} has a wrong port; a port is a number from 1 to {MAX_PORT}", _EXAMPLE
        )
    host = _ipv6(found[1]) if found[1] is not None else found[2].lower()
    if not host:
        raise UrlProblem(f"{shown} has no host", _EXAMPLE)
    if ":" not in host and not _HOST_NAME.fullmatch(host):
        raise UrlProblem(f"{host!r} is not a host name or an address", _EXAMPLE)
    if found[3] and int(found[3]) == 0:
        raise UrlProblem(f"{shown} has port 0", "Give the port on which the engine listens.")
    return host, int(found[3] or DEFAULT_PORTS[scheme])


def _ipv6(text: str) -> str:
    """The address in lower case; a zone after it, written % or %25, keeps its case."""
    address, percent, zone = text.replace("%25", "%", 1).partition("%")
    try:
        IPv6Address(address)
    except ValueError as error:
        raise UrlProblem(f"[{text}] is not an IPv6 address", _EXAMPLE) from error
    if percent and not _ZONE.fullmatch(zone):
        raise UrlProblem(f"{zone!r} is not the name of a network interface", _EXAMPLE)
    return address.lower() + percent + zone

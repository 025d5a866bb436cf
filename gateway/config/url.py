"""The address of a backend: every accepted spelling, and the one form the gateway uses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from types import MappingProxyType
from typing import Final

from gateway.words import Words

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

    def __init__(self, told: Words, remedy: Words) -> None:
        super().__init__(told.en)
        self.told = told
        self.remedy = remedy


_EXAMPLE: Final = Words(
    "Write it like http://10.0.0.5:12320.", "写成 http://10.0.0.5:12320 这样的形式。"
)
_WITH_SCHEME: Final = Words(
    "Write http:// before it, as in http://10.0.0.5:12320.",
    "在前面加上 http://，例如 http://10.0.0.5:12320。",
)
_WITHOUT_QUERY: Final = Words(
    "Remove everything from the ? or # on.", "删掉 ? 或 # 及其后的全部内容。"
)
_WITHOUT_USER: Final = Words(
    "Remove the part before the @ and give the backend's key with api_key_env or api_key_file.",
    "删掉 @ 及其前面的部分；后端的密钥用 api_key_env 或 api_key_file 指定。",
)


def parse_backend_url(text: str) -> BackendUrl:
    """Read http(s)://host[:port][/prefix][/v1][/]; raises `UrlProblem` with a remedy."""
    shown = repr(_USER.sub(r"\1***@", text))  # what stands before an @ may be a password
    if any(ch.isspace() or not ch.isprintable() for ch in text):
        raise UrlProblem(
            Words(
                f"{shown} has white space or control characters in it",
                f"{shown} 含有空白或控制字符",
            ),
            _EXAMPLE,
        )
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    if not separator:
        told = Words(f"{shown} has no scheme", f"{shown} 缺少协议前缀")
        raise UrlProblem(told, _WITH_SCHEME)
    if scheme not in DEFAULT_PORTS:
        raise UrlProblem(
            Words(f"{scheme!r} is not a scheme the gateway speaks", f"网关不支持协议 {scheme!r}"),
            Words("Use http or https.", "使用 http 或 https。"),
        )
    if "?" in rest or "#" in rest:
        told = Words(f"{shown} has a query or a fragment", f"{shown} 带有查询串或片段")
        raise UrlProblem(told, _WITHOUT_QUERY)
    authority, slash, path = rest.partition("/")
    if "@" in authority:
        told = Words("the URL has a user name or password in it", "URL 中带有用户名或密码")
        raise UrlProblem(told, _WITHOUT_USER)
    if not _PATH.fullmatch(path):
        raise UrlProblem(
            Words(
                f"{shown} has characters in its path that need %-encoding",
                f"{shown} 的路径中有需要 %-编码的字符",
            ),
            _EXAMPLE,
        )
    host, port = _split_authority(authority, shown, scheme)
    return BackendUrl(scheme, host, port, _prefix(slash + path))


def _prefix(path: str) -> str:
    trimmed = re.sub("/{2,}", "/", path).strip("/")
    trimmed = _VERSION_SUFFIX.sub("", trimmed)
    return f"/{trimmed}" if trimmed else ""


def _split_authority(authority: str, shown: str, scheme: str) -> tuple[str, int]:
    if authority.count(":") > 1 and not authority.startswith("["):
        raise UrlProblem(
            Words(
                f"{shown} has an IPv6 address without brackets",
                f"{shown} 中的 IPv6 地址没有加方括号",
            ),
            Words(
                "Put the address in brackets, like http://[::1]:12320.",
                "给地址加上方括号，例如 http://[::1]:12320。",
            ),
        )
    found = _AUTHORITY.fullmatch(authority)
    if found is None or int(found[3] or 0) > MAX_PORT:
        raise UrlProblem(
            Words(
                f"{shown} has a wrong port; a port is a number from 1 to {MAX_PORT}",
                f"{shown} 的端口不对；端口是 1 到 {MAX_PORT} 的数字",
            ),
            _EXAMPLE,
        )
    host = _ipv6(found[1]) if found[1] is not None else found[2].lower()
    if not host:
        raise UrlProblem(Words(f"{shown} has no host", f"{shown} 缺少主机名"), _EXAMPLE)
    if ":" not in host and not _HOST_NAME.fullmatch(host):
        raise UrlProblem(
            Words(f"{host!r} is not a host name or an address", f"{host!r} 不是主机名，也不是地址"),
            _EXAMPLE,
        )
    if found[3] and int(found[3]) == 0:
        raise UrlProblem(
            Words(f"{shown} has port 0", f"{shown} 的端口是 0"),
            Words("Give the port on which the engine listens.", "填写引擎实际监听的端口。"),
        )
    return host, int(found[3] or DEFAULT_PORTS[scheme])


def _ipv6(text: str) -> str:
    """The address in lower case; a zone after it, written % or %25, keeps its case."""
    address, percent, zone = text.replace("%25", "%", 1).partition("%")
    try:
        IPv6Address(address)
    except ValueError as error:
        told = Words(f"[{text}] is not an IPv6 address", f"[{text}] 不是 IPv6 地址")
        raise UrlProblem(told, _EXAMPLE) from error
    if percent and not _ZONE.fullmatch(zone):
        raise UrlProblem(
            Words(
                f"{zone!r} is not the name of a network interface", f"{zone!r} 不是网络接口的名称"
            ),
            _EXAMPLE,
        )
    return address.lower() + percent + zone

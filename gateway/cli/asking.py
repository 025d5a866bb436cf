"""How commands ask a running gateway, and what they say when it does not answer as it should."""

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NoReturn

import httpx

from gateway.cli.stop import NO_ANSWER, Stop
from gateway.settings import ENV_PREFIX
from gateway.words import Language, Words

LIMIT_S: Final = 10.0
"""Seconds without a byte after which a question has failed."""

_MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
_MESSAGE_CHARS: Final = 200
_FAILURES: Final = (httpx.HTTPError, httpx.InvalidURL, OSError)
_NO_VALUES: Final[Mapping[str, str]] = MappingProxyType({})
_NO_CODES: Final[Mapping[str, int]] = MappingProxyType({})

_NOT_REACHED: Final = Words(
    "{base}: can't be reached: {told}. Name the address of the gateway with --url, such as --url "
    "http://127.0.0.1:8000.",
    "{base}：无法连接：{told}。请用 --url 指定网关的地址，例如 --url http://127.0.0.1:8000。",
)
_NOT_TRUSTED: Final = Words(
    "{base}: can't be reached: {told}. Name the certificate of its authority with --ca-file, and "
    "with --url the host that its certificate is for; --insecure asks without checking it.",
    "{base}：无法连接：{told}。请用 --ca-file 指定签发者的证书，并在 --url 中使用证书所属的主机名；"
    "--insecure 表示不校验证书。",
)
_KEY_NEEDED: Final = Words(
    "{base}: {message} Name a file with an admin key with --admin-keys-file, or set {variable}.",
    "{base}：{message} 请用 --admin-keys-file 指定含有管理员密钥的文件，或设置 {variable}。",
)
_NO_ROUTE: Final = Words(
    "{base}: there is no {path}. Check that --url is a gateway, not an engine, and that its "
    "version has this command.",
    "{base}：没有 {path}。请确认 --url 指向网关而不是推理引擎，并且其版本支持该命令。",
)
_OTHER: Final = Words(
    "{base}: it answered {status}: {message}", "{base}：返回了 {status}：{message}"
)
_NOTHING_MORE: Final = Words("nothing more.", "没有更多信息。")
_TOO_SLOW: Final = Words("no answer within {limit} s", "{limit} 秒内没有回答")
_TOO_LONG: Final = Words("its answer has no end", "回答过长")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a gateway, or whatever listens there, said."""

    status: int
    content_type: str
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, whatever its bytes are."""
        return self.body.decode("utf-8", "replace")

    @property
    def tree(self) -> Any:
        """The body as JSON; None if it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @property
    def error(self) -> Mapping[str, Any]:
        """The error in the body; empty if there is none."""
        tree = self.tree
        found = tree.get("error") if isinstance(tree, dict) else None
        return found if isinstance(found, dict) else {}

    def message(self, language: Language) -> str:
        """What an error says, in the language if the gateway told it in that."""
        tree = self.tree
        told = tree.get("text") if isinstance(tree, dict) else None
        spoken = told.get(language.value) if isinstance(told, dict) else None
        found = spoken if isinstance(spoken, str) else self.error.get("message")
        if found is not None:
            return str(found)
        return self.text[:_MESSAGE_CHARS].strip() or _NOTHING_MORE.spoken(language)


@dataclass(frozen=True, slots=True)
class Gateway:
    """A gateway to ask, at `base`, an address without a path; None for no admin key."""

    base: str
    key: str | None
    context: ssl.SSLContext
    language: Language

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] = _NO_VALUES,
        *,
        content: bytes | None = None,
        limit_s: float = LIMIT_S,
    ) -> Answer:
        """One answer, whatever its status; raises `Stop` when there is none."""
        headers = {} if self.key is None else {"authorization": f"Bearer {self.key}"}
        url = f"{self.base}{path}"
        try:
            # Proxies of the environment are for the internet, not for a gateway.
            with (
                httpx.Client(verify=self.context, trust_env=False, timeout=limit_s) as client,
                client.stream(
                    method, url, params=dict(query), content=content, headers=headers
                ) as answer,
            ):
                return self._read(answer)
        except _FAILURES as error:
            told = self._told(error, limit_s)
            text = _NOT_TRUSTED if "CERTIFICATE" in told else _NOT_REACHED
            raise Stop(NO_ANSWER, text, self.language, base=self.base, told=told) from error

    def refuse(self, answer: Answer, path: str, own: Mapping[str, int] = _NO_CODES) -> NoReturn:
        """Ends the command with what was said instead of an answer to its question.

        `own` gives the exit status for error codes that the command knows; else it is 2.
        """
        message, code = answer.message(self.language), answer.error.get("code")
        if isinstance(code, str) and code in own:
            raise Stop(own[code], Words(message, message), self.language)
        values = {"base": self.base, "message": message}
        if answer.status in (401, 403):
            values["variable"] = f"{ENV_PREFIX}ADMIN_KEYS"
            raise Stop(NO_ANSWER, _KEY_NEEDED, self.language, **values)
        if answer.status in (200, 404):
            raise Stop(NO_ANSWER, _NO_ROUTE, self.language, path=path, **values)
        raise Stop(NO_ANSWER, _OTHER, self.language, status=answer.status, **values)

    def _read(self, answer: httpx.Response) -> Answer:
        pieces: list[bytes] = []
        size_bytes = 0
        for piece in answer.iter_bytes():
            size_bytes += len(piece)
            if size_bytes > _MAX_ANSWER_BYTES:
                told = _TOO_LONG.spoken(self.language)
                raise Stop(NO_ANSWER, _NOT_REACHED, self.language, base=self.base, told=told)
            pieces.append(piece)
        content_type = answer.headers.get("content-type", "")
        return Answer(answer.status_code, content_type, b"".join(pieces))

    def _told(self, error: Exception, limit_s: float) -> str:
        if isinstance(error, httpx.TimeoutException):
            return _TOO_SLOW.spoken(self.language).format(limit=f"{limit_s:.0f}")
        return str(error).rstrip(".") or type(error).__name__

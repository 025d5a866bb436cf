"""`ascend-gateway explain`: why a request went where it went, asked of a running gateway."""

import json
import ssl
from pathlib import Path
from typing import Any, Final, NoReturn

import click
import httpx

from gateway.cli.language import language_option
from gateway.cli.options import read_settings
from gateway.settings import ENV_PREFIX, Settings
from gateway.words import Language

_LIMIT_S: Final = 10.0
_NOT_FOUND: Final = 1
_NO_ANSWER: Final = 2
_ANYWHERE: Final = ("0.0.0.0", "::", "")


@click.command()
@click.argument("request_id", metavar="ID")
@click.option(
    "--url",
    help="Where the gateway listens, such as http://10.0.0.5:8000; else this machine, at the port "
    "of the settings.",
)
@click.option(
    "--admin-keys-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"File whose first key is sent; else {ENV_PREFIX}ADMIN_KEYS_FILE or "
    f"{ENV_PREFIX}ADMIN_KEYS.",
)
@click.option("--json", "is_json", is_flag=True, help="Print JSON, for programs.")
@language_option
@click.pass_context
def explain(
    ctx: click.Context,
    request_id: str,
    url: str | None,
    admin_keys_file: Path | None,
    is_json: bool,
    language: Language,
) -> None:
    """Tell why the request ID went where it went; ID is the x-request-id of its answer.

    Exit status: 0 when the gateway tells it, 1 when it does not keep that request, 2 when the
    gateway can't be reached or does not tell.
    """
    # Whether the gateway may be open is not asked here.
    settings = read_settings({"admin_keys_file": admin_keys_file, "allow_open": True})
    base = _base(url, settings)
    query = {
        "request_id": request_id,
        "format": "json" if is_json else "text",
        "lang": language.value,
    }
    try:
        answer = _ask(f"{base}/admin/explain", query, _key(settings))
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        _stop(
            ctx,
            _NO_ANSWER,
            f"{base}: can't be reached: {_told(error)}. Name the address of the gateway with "
            "--url, such as --url http://127.0.0.1:8000.",
        )
    told = _explanation(answer, is_json)
    if told is None:
        _refuse(ctx, base, answer)
    click.echo(told)


def _base(url: str | None, settings: Settings) -> str:
    """The address of the gateway without a path; `/v1`, which clients need, is taken off."""
    if url is None:
        host = "127.0.0.1" if settings.host in _ANYWHERE else settings.host
        return f"http://{f'[{host}]' if ':' in host else host}:{settings.port or 8000}"
    base = url.strip().rstrip("/").removesuffix("/v1").rstrip("/")
    return base if "://" in base else f"http://{base}"


def _key(settings: Settings) -> str | None:
    """The first administrator key, if there is one."""
    try:
        keys = settings.load_admin_keys()
    except (OSError, ValueError) as error:
        raise click.UsageError(f"the admin keys can't be used: {error}") from error
    return keys[0][1] if keys else None


def _ask(url: str, query: dict[str, str], key: str | None) -> httpx.Response:
    """One request; proxies of the environment are for the internet, not for a gateway."""
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    is_tls = url.startswith("https:")
    verify: Any = (
        ssl.create_default_context() if is_tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )
    with httpx.Client(verify=verify, trust_env=False, timeout=_LIMIT_S) as client:
        return client.get(url, params=query, headers=headers)


def _explanation(answer: httpx.Response, is_json: bool) -> str | None:
    """What is to be printed; None for anything that is no explanation, such as a web page."""
    if answer.status_code != 200:
        return None
    if not is_json:
        is_text = answer.headers.get("content-type", "").startswith("text/plain")
        return answer.text.rstrip("\n") if is_text else None
    try:
        return json.dumps(answer.json(), indent=2, ensure_ascii=False)
    except ValueError:
        return None


def _refuse(ctx: click.Context, base: str, answer: httpx.Response) -> NoReturn:
    """Tells what a gateway, or whatever listens there, said instead."""
    code, message = _error(answer)
    if code == "request_not_kept":
        _stop(ctx, _NOT_FOUND, message)
    if answer.status_code in (401, 403):
        _stop(
            ctx,
            _NO_ANSWER,
            f"{base}: {message} Name a file with an admin key with --admin-keys-file, or set "
            f"{ENV_PREFIX}ADMIN_KEYS.",
        )
    if answer.status_code in (200, 404):
        _stop(
            ctx,
            _NO_ANSWER,
            f"{base}: there is no /admin/explain. Check that --url is a gateway, not an engine, "
            "and that its version has this command.",
        )
    _stop(ctx, _NO_ANSWER, f"{base}: it answered {answer.status_code}: {message}")


def _error(answer: httpx.Response) -> tuple[str | None, str]:
    """Code and message of an answer, whoever sent it."""
    try:
        error = answer.json()["error"]
        return error.get("code"), str(error["message"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, answer.text[:200].strip() or "nothing more."


def _told(error: Exception) -> str:
    text = str(error).rstrip(".")
    if isinstance(error, httpx.TimeoutException):
        return f"no answer within {_LIMIT_S:.0f} s"
    return text or type(error).__name__


def _stop(ctx: click.Context, status: int, message: str) -> NoReturn:
    click.echo(message, err=True)
    ctx.exit(status)

"""A routing file from what was found, with a comment on every guess."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import yaml

from gateway.adoption.candidate import Candidate, Fleet, Guess
from gateway.adoption.findings import Finding
from gateway.adoption.models import AdoptedModel, models_of, public_name, usable_text
from gateway.adoption.telling import message_of
from gateway.config.fields import MAX_COUNT
from gateway.config.url import UrlProblem, parse_backend_url
from gateway.config.vocabulary import Tier
from gateway.words import Language, Words

_MOST_SOURCES: Final = 20
_HEAD: Final = Words(
    "Made by `ascend-gateway adopt` from: {sources}.\n"
    "Lines marked `guess` say what no source told. Look at them and at the findings; then:\n"
    "  ascend-gateway config check FILE --probe",
    "由 `ascend-gateway adopt` 生成，来源：{sources}。\n"
    "标有“猜测”的行是来源中没有写明的内容。请核对这些行和所有提示，然后执行：\n"
    "  ascend-gateway config check FILE --probe",
)
_GUESS: Final = Words("guess: {told}", "猜测：{told}")
_DISABLED: Final = Words(
    "can't run at the same time as {other}: same address or same NPUs. Correct one of the two, "
    "then enable it",
    "不能与 {other} 同时运行：地址或 NPU 相同。请修正其中之一，再启用",
)
_KEY: Final = Words(
    "it wants an API key: put the key into this variable where the gateway runs",
    "它要求 API 密钥：请在网关运行处把密钥放入该环境变量",
)


def draft(fleet: Fleet, sources: Sequence[str], language: Language) -> str:
    """The text of a routing file that loads without errors; `sources` are named in its head."""
    lines = [*_head(sources, language), "version: 1", ""]
    if fleet.candidates:
        lines.append("backends:")
        settled = _settled(fleet.candidates)
        for candidate, other in settled:
            lines += [*_backend(candidate, other, language), ""]
        lines.append("models:")
        for model in models_of(fleet):
            lines += _model(model)
    else:
        lines += ["backends: []", "models: []"]
    return "\n".join(lines) + "\n"


def _head(sources: Sequence[str], language: Language) -> Iterator[str]:
    named = ", ".join(dict.fromkeys(sources[:_MOST_SOURCES])) or "-"
    more = ", ..." if len(sources) > _MOST_SOURCES else ""
    text = _HEAD.spoken(language).format(sources=_flat(f"{named}{more}"))
    return (f"# {line}" for line in text.splitlines())


def _settled(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, str]]:
    """Each with the name of an enabled one that has its address or an NPU of it, "" for none."""
    addresses: dict[object, str] = {}
    npus: dict[tuple[str, int], str] = {}
    for candidate in candidates:
        address = parse_backend_url(url_of(candidate)).listener
        node = (usable_text(candidate.node) or address[0]).casefold()
        own = [(node, npu) for npu in candidate.npus]
        other = candidate.disabled_by or addresses.get(address) or _first(npus, own)
        if not other:
            addresses[address] = candidate.name
            npus.update(dict.fromkeys(own, candidate.name))
        yield candidate, other


def _first(owners: dict[tuple[str, int], str], wanted: Sequence[tuple[str, int]]) -> str:
    return next((owners[one] for one in wanted if one in owners), "")


def url_of(candidate: Candidate) -> str:
    """The address as the routing file has it; one that can't be an address becomes 127.0.0.1."""
    host = f"[{candidate.host}]" if ":" in candidate.host else candidate.host
    for url in (
        f"{candidate.scheme}://{host}:{candidate.port}{candidate.prefix}",
        f"{candidate.scheme}://{host}:{candidate.port}",
    ):
        try:
            return parse_backend_url(url).base
        except UrlProblem:
            continue
    return f"http://127.0.0.1:{candidate.port if 0 < candidate.port < 65536 else 8000}"


def fields_of(candidate: Candidate) -> dict[str, Any]:
    """The fields of the routing file that are known, in the order in which they are written."""
    is_eager = candidate.tier is Tier.EAGER
    sizes = sorted({size for size in candidate.capture_sizes or () if _count(size)})
    path = candidate.model_path or ""
    known: dict[str, Any] = {
        "name": candidate.name,
        "url": url_of(candidate),
        "served_name": usable_text(candidate.served_name) or public_name(path),
        "root": usable_text(path) if path.startswith("/") else None,
        "tier": "eager" if is_eager else None,
        "node": usable_text(candidate.node),
        "npus": sorted({npu for npu in candidate.npus if 0 <= npu <= MAX_COUNT}) or None,
        "chip": None if candidate.chip is None else candidate.chip.value,
        "tensor_parallel": _count(candidate.tensor_parallel),
        "max_num_seqs": _count(candidate.max_num_seqs),
        "capture_sizes": None if is_eager else sizes or None,
        "max_model_len": _count(candidate.max_model_len),
        "max_num_batched_tokens": _count(candidate.max_num_batched_tokens),
        "quantization": usable_text(candidate.quantization or ""),
        "container": usable_text(candidate.container.name if candidate.container else ""),
        "api_key_env": key_variable(candidate.name) if candidate.has_api_key else None,
    }
    return {name: value for name, value in known.items() if value not in (None, "")}


def key_variable(name: str) -> str:
    """The environment variable that is to hold a backend's key."""
    word = "".join(ch if ch.isascii() and ch.isalnum() else "_" for ch in name.upper())
    return f"BACKEND_{word}_API_KEY"


def _backend(candidate: Candidate, other: str, language: Language) -> Iterator[str]:
    guesses: dict[str, list[Guess]] = {}
    for guess in candidate.guesses:
        guesses.setdefault(guess.field, []).append(guess)
    fields = fields_of(candidate)
    places = ", ".join(_flat(str(origin)) for origin in candidate.origins[:_MOST_SOURCES])
    if places:
        yield f"  # {places}"
    rest = [guess for field, some in guesses.items() if field not in fields for guess in some]
    for guess in rest:
        yield f"  # {_guess(guess, candidate, language)}"
    start = "  - "
    for field, value in fields.items():
        for guess in guesses.get(field, ()):
            # A comment may stand in front of any field, but not between the dash and its entry.
            yield f"{'    ' if start == '    ' else '  '}# {_guess(guess, candidate, language)}"
        if field == "api_key_env":
            yield f"    # {_KEY.spoken(language)}"
        yield f"{start}{field}: {_value(value)}"
        start = "    "
    if other:
        yield f"    # {_DISABLED.spoken(language).format(other=other)}"
        yield "    enabled: false"


def _guess(guess: Guess, candidate: Candidate, language: Language) -> str:
    finding = Finding(guess.code, candidate.origin, guess.values, candidate.name)
    return _GUESS.spoken(language).format(told=_flat(message_of(finding, language)))


def _model(model: AdoptedModel) -> Iterator[str]:
    yield f"  - name: {_value(model.name)}"
    if model.aliases:
        yield f"    aliases: {_value(list(model.aliases))}"
    refs: list[Any] = [
        {"backend": backend, "served_name": served} if served else backend
        for backend, served in model.backends
    ]
    yield f"    backends: {_value(refs)}"


def _value(value: Any) -> str:
    """A value in one line of YAML."""
    text = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, width=10**9, sort_keys=False
    )
    return text.removesuffix("\n").removesuffix("\n...").strip()


def _count(number: int | None) -> int | None:
    """A number that a routing file takes; sources may hold any."""
    return number if number is not None and 0 < number <= MAX_COUNT else None


def _flat(text: str) -> str:
    return " ".join("".join(ch if ch.isprintable() else " " for ch in text).split())

"""What `config check` prints: problems, the backends as they are used, differences, advice."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from gateway.cli.config_probe import Probed
from gateway.config.advice import Advice
from gateway.config.backend import BackendConfig
from gateway.config.capture import concurrency_cap
from gateway.config.load import Loaded
from gateway.config.members import members
from gateway.config.schema import RoutingConfig
from gateway.fleet.account import Account
from gateway.fleet.difference import Found, Weight
from gateway.words import Language, Words

_WEIGHTS: Final[Mapping[Weight, Words]] = MappingProxyType(
    {
        Weight.ERROR: Words("error", "错误"),
        Weight.WARNING: Words("warning", "警告"),
        Weight.NOTE: Words("note", "提示"),
    }
)
_SERVED: Final = Words("served as {name}", "服务名 {name}")
_TIER: Final = Words("tier {tier}", "层级 {tier}")
_CAP: Final = Words("cap {cap}", "并发 {cap}")
_CAP_AND_LIMIT: Final = Words("cap {cap} (hard limit {hard})", "并发 {cap}（硬上限 {hard}）")
_DISABLED: Final = Words("disabled", "已停用")
_MODEL: Final = Words("model {name}: {serving}", "模型 {name}：{serving}")
_NOBODY: Final = Words("nobody", "无后端")
_ALIASES: Final = Words("; also called {names}", "；别名 {names}")
_FALLBACKS: Final = Words("; then {names}", "；备用 {names}")
_ASKED: Final = Words("asked: {name}: {told}", "已询问：{name}：{told}")
_AS_CONFIGURED: Final = Words("as configured", "与路由文件一致")
_DIFFERS_ONCE: Final = Words("1 difference", "1 处不一致")
_DIFFERS: Final = Words("{count} differences", "{count} 处不一致")
_DIFFERENCE: Final = Words(
    "{weight}: backend {backend}: {told} [{kind}]\n    {remedy}",
    "{weight}：后端 {backend}：{told} [{kind}]\n    {remedy}",
)
_ADVICE: Final = Words(
    "advice: backend {backend}: {told} [{code}]\n    {remedy}",
    "建议：后端 {backend}：{told} [{code}]\n    {remedy}",
)
_OK: Final = Words("ok", "可用")
_NOT_OK: Final = Words("not usable", "不可用")
_VERDICT: Final = Words(
    "{file}: {verdict}, {errors} {error}, {warnings} {warning}",
    "{file}：{verdict}，{errors} 个错误，{warnings} 个警告",
)


@dataclass(frozen=True, slots=True)
class Report:
    """All that a check found; `probed` is None where backends were not asked."""

    file: str
    loaded: Loaded
    probed: tuple[Probed, ...] | None
    advice: tuple[Advice, ...]
    is_strict: bool

    @property
    def found(self) -> tuple[Found, ...]:
        """The differences of all backends."""
        return tuple(found for one in self.probed or () for found in one.found)

    @property
    def errors(self) -> int:
        """Errors of the file and of its backends."""
        return len(self.loaded.errors) + sum(f.weight is Weight.ERROR for f in self.found)

    @property
    def warnings(self) -> int:
        """Warnings of the file and of its backends."""
        return len(self.loaded.warnings) + sum(f.weight is Weight.WARNING for f in self.found)

    @property
    def is_good(self) -> bool:
        """Whether the check passes."""
        return not self.errors and not (self.is_strict and self.warnings)


def as_text(report: Report, language: Language) -> str:
    """The report for people."""
    loaded = report.loaded
    parts = [loaded.render(language)] if loaded.problems else []
    if loaded.config is not None:
        parts += [_backends(loaded.config, language), _models(loaded.config, language)]
    parts += [_probed(report.probed, language)] if report.probed else []
    parts += [_told(found, language) for found in report.found]
    parts += [
        _ADVICE.spoken(language).format(
            backend=advice.backend,
            told=advice.told.spoken(language),
            code=advice.code,
            remedy=advice.remedy.spoken(language),
        )
        for advice in report.advice
    ]
    parts.append(
        _VERDICT.spoken(language).format(
            file=report.file,
            verdict=(_OK if report.is_good else _NOT_OK).spoken(language),
            errors=report.errors,
            error="error" if report.errors == 1 else "errors",
            warnings=report.warnings,
            warning="warning" if report.warnings == 1 else "warnings",
        )
    )
    return "\n\n".join(part for part in parts if part)


def as_json(report: Report, language: Language) -> str:
    """The report for programs; codes are stable, texts are in the language."""
    routing = report.loaded.config
    accounts = {one.backend.name: one.account for one in report.probed or ()}
    told = {
        "ok": report.is_good,
        "version_hash": report.loaded.version_hash,
        "problems": [problem.as_dict(language) for problem in report.loaded.problems],
        "backends": [
            _backend_facts(backend, accounts.get(backend.name), language)
            for backend in (routing.backends if routing else ())
        ],
        "drift": [_found_facts(found, language) for found in report.found],
        "advice": [
            {
                "backend": advice.backend,
                "code": advice.code,
                "option": advice.option,
                "message": advice.told.spoken(language),
                "remedy": advice.remedy.spoken(language),
            }
            for advice in report.advice
        ],
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _backends(routing: RoutingConfig, language: Language) -> str:
    rows = [_row(backend, language) for backend in routing.backends]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _row(backend: BackendConfig, language: Language) -> tuple[str, ...]:
    cap, hard = concurrency_cap(backend)
    return (
        backend.name,
        f"{backend.base_url}/v1/chat/completions",
        _SERVED.spoken(language).format(name=backend.served_name),
        _TIER.spoken(language).format(tier=backend.tier),
        (_CAP if cap == hard else _CAP_AND_LIMIT).spoken(language).format(cap=cap, hard=hard),
        "" if backend.enabled else _DISABLED.spoken(language),
    )


def _models(routing: RoutingConfig, language: Language) -> str:
    lines = []
    for model in routing.models:
        names = _names(member.backend.name for member in members(routing, model))
        serving = (names or _NOBODY.spoken(language)) if model.enabled else ""
        serving = serving or _DISABLED.spoken(language)
        line = _MODEL.spoken(language).format(name=model.name, serving=serving)
        if model.aliases:
            line += _ALIASES.spoken(language).format(names=_names(model.aliases))
        if model.fallback_models:
            line += _FALLBACKS.spoken(language).format(names=_names(model.fallback_models))
        lines.append(line)
    return "\n".join(lines)


def _names(names: Iterable[str]) -> str:
    return ", ".join(names)


def _probed(probed: tuple[Probed, ...], language: Language) -> str:
    lines = []
    for one in probed:
        count = sum(found.weight is not Weight.NOTE for found in one.found)
        template = (_AS_CONFIGURED, _DIFFERS_ONCE, _DIFFERS)[min(count, 2)]
        told = template.spoken(language).format(count=count)
        facts = ", ".join(_seen(one.account))
        told = f"{told} ({facts})" if facts else told
        lines.append(_ASKED.spoken(language).format(name=one.backend.name, told=told))
    return "\n".join(lines)


def _seen(account: Account) -> Iterable[str]:
    if account.version is not None:
        yield f"vLLM {account.version}"
    if account.engine is not None and account.engine.graph_mode is not None:
        yield account.engine.graph_mode
    if account.kv_tokens is not None:
        yield f"KV {account.kv_tokens} tokens"
    if account.decode_tokens_per_s is not None:
        yield f"{account.decode_tokens_per_s:.1f} tokens/s"


def _told(found: Found, language: Language) -> str:
    return _DIFFERENCE.spoken(language).format(
        weight=_WEIGHTS[found.weight].spoken(language),
        backend=found.backend,
        told=found.told.spoken(language),
        kind=found.kind,
        remedy=found.remedy.spoken(language),
    )


def _found_facts(found: Found, language: Language) -> dict[str, str]:
    return {
        "backend": found.backend,
        "kind": found.kind.value,
        "severity": found.weight.value,
        "message": found.told.spoken(language),
        "remedy": found.remedy.spoken(language),
    }


def _backend_facts(
    backend: BackendConfig, account: Account | None, language: Language
) -> dict[str, Any]:
    cap, hard = concurrency_cap(backend)
    return {
        "name": backend.name,
        "base_url": backend.base_url,
        "served_name": backend.served_name,
        "tier": backend.tier.value,
        "cap": cap,
        "hard_limit": hard,
        "enabled": backend.enabled,
        "account": None if account is None else _account_facts(account, language),
    }


def _account_facts(account: Account, language: Language) -> dict[str, Any]:
    engine, failure = account.engine, account.failure
    return {
        "trouble": None if failure is None else failure.kind.value,
        "message": None if failure is None else failure.told.spoken(language),
        "version": account.version,
        "served": [
            {"id": card.id, "root": card.root, "max_model_len": card.max_model_len}
            for card in account.cards or ()
        ],
        "is_eager": None if engine is None else engine.is_eager,
        "graph_mode": None if engine is None else engine.graph_mode,
        "capture_sizes": None if engine is None else engine.capture_sizes,
        "max_num_seqs": None if engine is None else engine.max_num_seqs,
        "tensor_parallel": None if engine is None else engine.tensor_parallel,
        "kv_tokens": account.kv_tokens,
        "running": account.running,
        "decode_tokens_per_s": account.decode_tokens_per_s,
    }

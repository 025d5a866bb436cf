"""What `adopt log` prints: an engine's start-up in a few lines, and what to write from it."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from gateway.adoption.findings import Finding
from gateway.adoption.sources import EngineLog
from gateway.adoption.telling import message_of, severity_of, told
from gateway.words import Language, Words

_NO_LOG: Final = Words("No engine's log is among the files.", "这些文件中没有推理引擎的日志。")
_EAGER: Final = Words("it runs eager, without graphs", "以 eager 方式运行，没有图")
_GRAPH: Final = Words("it runs graphs ({mode})", "以图模式运行（{mode}）")
_UNTOLD: Final = Words("it does not say whether it uses graphs", "日志没有说明是否使用图模式")
_SIZES: Final = Words("captured sizes: {sizes}", "捕获尺寸：{sizes}")
_COUNT: Final = Words("graphs captured: {count}", "已捕获的图：{count} 个")
_TRUNCATED: Final = Words(
    "vLLM cut the sizes at {size}: larger batches run eager",
    "vLLM 把尺寸截断到 {size}：更大的批次以 eager 执行",
)
_KV: Final = Words("KV cache: {tokens} tokens", "KV 缓存：{tokens} token")
_CONCURRENCY: Final = Words(
    "requests of {tokens} tokens at once: {ratio:.2f}",
    "{tokens} token 的请求可同时运行：{ratio:.2f} 个",
)
_CONTEXT: Final = Words("longest request: {tokens} tokens", "最长请求：{tokens} token")
_SPEED: Final = Words("tokens a second, typically: {rate:.1f}", "典型速度：每秒 {rate:.1f} token")
_VERSION: Final = Words("vLLM {version}", "vLLM {version}")
_MODEL: Final = Words("model {model}, served as {names}", "模型 {model}，服务名 {names}")
_ADVICE: Final = Words(
    "advice: start it with --max-num-seqs {size}, the largest captured size; with more requests "
    "at once the whole batch runs eager",
    "建议：用 --max-num-seqs {size}（最大捕获尺寸）启动；同时请求更多时整个批次都会以 eager 执行",
)
_FIELDS: Final = Words("for the routing file:", "可写入路由文件：")


def logs_text(
    logs: tuple[EngineLog, ...], findings: tuple[Finding, ...], language: Language
) -> str:
    """Each log in a few lines, then what was noticed in them."""
    parts = ["\n".join(_log(log, language)) for log in logs] or [_NO_LOG.spoken(language)]
    parts += [told(finding, language) for finding in findings]
    return "\n\n".join(parts)


def logs_json(
    logs: tuple[EngineLog, ...], findings: tuple[Finding, ...], language: Language
) -> str:
    """The same for programs."""
    report = {
        "logs": [{**asdict(log), "origin": str(log.origin), **_fields(log)} for log in logs],
        "findings": [
            {
                "code": finding.code.value,
                "severity": severity_of(finding).value,
                "file": finding.origin.file,
                "line": finding.origin.line or None,
                "message": message_of(finding, language),
            }
            for finding in findings
        ],
    }
    return json.dumps(report, indent=2, ensure_ascii=False)


def _log(log: EngineLog, language: Language) -> Iterator[str]:
    yield f"{log.origin.file}:"
    for words, values in _facts(log):
        yield f"  {words.spoken(language).format(**values)}"
    fields = {name: value for name, value in _fields(log).items() if value is not None}
    if fields:
        yield f"  {_FIELDS.spoken(language)}"
        yield from (f"    {name}: {value}" for name, value in fields.items())


def _facts(log: EngineLog) -> Iterator[tuple[Words, dict[str, object]]]:
    if log.version is not None:
        yield _VERSION, {"version": log.version}
    if log.model is not None:
        names = ", ".join(log.served_names) or log.model
        yield _MODEL, {"model": log.model, "names": names}
    if log.is_eager is None:
        yield _UNTOLD, {}
    else:
        mode = log.graph_mode or "graph"
        yield (_EAGER, {}) if log.is_eager else (_GRAPH, {"mode": mode})
    if log.capture_sizes:
        yield _SIZES, {"sizes": ", ".join(map(str, log.capture_sizes))}
    if log.capture_count is not None:
        yield _COUNT, {"count": log.capture_count}
    if log.truncated_to is not None:
        yield _TRUNCATED, {"size": log.truncated_to}
    if log.kv_tokens is not None:
        yield _KV, {"tokens": f"{log.kv_tokens:,}"}
    if log.concurrency_ratio is not None:
        tokens = log.concurrency_tokens or log.max_model_len
        shown = "?" if tokens is None else f"{tokens:,}"
        yield _CONCURRENCY, {"tokens": shown, "ratio": log.concurrency_ratio}
    if log.max_model_len is not None:
        yield _CONTEXT, {"tokens": f"{log.max_model_len:,}"}
    if log.decode_tokens_per_s is not None:
        yield _SPEED, {"rate": log.decode_tokens_per_s}
    largest = _largest(log)
    if largest is not None and (log.max_num_seqs is None or log.max_num_seqs > largest):
        yield _ADVICE, {"size": largest}


def _largest(log: EngineLog) -> int | None:
    """The largest batch that has a graph, where the log tells one."""
    if log.is_eager:
        return None
    return max(log.capture_sizes) if log.capture_sizes else log.truncated_to


def _fields(log: EngineLog) -> dict[str, object]:
    tier = None if log.is_eager is None else "eager" if log.is_eager else "graph"
    sizes = list(log.capture_sizes) if log.capture_sizes and not log.is_eager else None
    return {
        "tier": tier,
        "capture_sizes": sizes,
        "max_num_seqs": log.max_num_seqs,
        "max_model_len": log.max_model_len,
        "tensor_parallel": log.tensor_parallel,
    }

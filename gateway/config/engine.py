"""Rules: what is said of one backend fits together."""

from collections.abc import Iterator

from gateway.config.draft import Draft
from gateway.config.members import members_among
from gateway.config.problems import Code, Finding
from gateway.words import Words


def tensor_parallel_mismatch(draft: Draft) -> Iterator[Finding]:
    """Tensor parallelism spans as many NPUs as the backend has."""
    for entry in draft.backends:
        width, npus = entry.record.tensor_parallel, len(entry.record.npus)
        if width is not None and npus and width != npus:
            yield Finding(
                Code.TENSOR_PARALLEL_MISMATCH,
                ("backends", entry.index, "tensor_parallel"),
                Words(
                    f"tensor_parallel is {width}, but {npus} NPUs are listed",
                    f"tensor_parallel 为 {width}，但列出了 {npus} 个 NPU",
                ),
                Words(
                    "Compare both with the launch command; only with data parallelism may there "
                    "be more NPUs.",
                    "请与启动命令核对；只有使用数据并行时 NPU 才可以更多。",
                ),
            )


def batched_tokens_too_few(draft: Draft) -> Iterator[Finding]:
    """A step has room for at least one token of each running request."""
    for entry in draft.backends:
        tokens, seqs = entry.record.max_num_batched_tokens, entry.record.max_num_seqs
        if tokens is not None and seqs is not None and tokens < seqs:
            yield Finding(
                Code.BATCHED_TOKENS_TOO_FEW,
                ("backends", entry.index, "max_num_batched_tokens"),
                Words(
                    f"max_num_batched_tokens {tokens} is below max_num_seqs {seqs}; the engine "
                    "does not start like that",
                    f"max_num_batched_tokens {tokens} 小于 max_num_seqs {seqs}；引擎无法这样启动",
                ),
                Words("Compare both with the launch command.", "请与启动命令核对。"),
            )


def key_given_twice(draft: Draft) -> Iterator[Finding]:
    """A backend's key comes from one place."""
    for entry in draft.backends:
        if entry.record.api_key_env is not None and entry.record.api_key_file is not None:
            yield Finding(
                Code.API_KEY_TWICE,
                ("backends", entry.index, "api_key_file"),
                Words(
                    "api_key_env and api_key_file are both given",
                    "同时给出了 api_key_env 和 api_key_file",
                ),
                Words("Keep one of the two.", "请只保留其中一个。"),
            )


def tls_options(draft: Draft) -> Iterator[Finding]:
    """TLS options are complete, safe, and on an https URL."""
    for entry in draft.backends:
        tls, path = entry.record.tls, ("backends", entry.index, "tls")
        if tls is None:
            continue
        if tls.key_file is not None and tls.cert_file is None:
            yield Finding(
                Code.TLS_KEY_WITHOUT_CERTIFICATE,
                (*path, "key_file"),
                Words("key_file is given without cert_file", "给出了 key_file 但没有 cert_file"),
                Words(
                    "Give the client certificate in cert_file, or remove key_file.",
                    "请用 cert_file 给出客户端证书，或删除 key_file。",
                ),
            )
        if entry.record.address.scheme != "https":
            yield Finding(
                Code.TLS_WITHOUT_HTTPS,
                path,
                Words("tls has no effect on an http URL", "tls 对 http 地址不起作用"),
                Words(
                    "Write https:// in url, or remove tls.", "请在 url 中写 https://，或删除 tls。"
                ),
            )
        elif not tls.verify:
            yield Finding(
                Code.TLS_UNVERIFIED,
                (*path, "verify"),
                Words(
                    "the backend's certificate is not checked, so anyone between can read and "
                    "change the traffic",
                    "不校验后端证书，因此中间的任何人都能读取和篡改流量",
                ),
                Words(
                    "Trust the certificate's authority with ca_file instead.",
                    "请改用 ca_file 信任签发该证书的机构。",
                ),
            )


def roots_differ(draft: Draft) -> Iterator[Finding]:
    """The backends of one model hold the same model path."""
    records = [entry.record for entry in draft.backends]
    for entry in draft.models:
        roots = {
            member.backend.root.rstrip("/"): member.backend.name
            for member in members_among(records, entry.record)
            if member.backend.root is not None
        }
        if len(roots) > 1:
            listed = "; ".join(f"{name} has {root}" for root, name in roots.items())
            listed_zh = "；".join(f"{name} 为 {root}" for root, name in roots.items())
            yield Finding(
                Code.ROOTS_DIFFER,
                ("models", entry.index),
                Words(
                    f"the backends of model {entry.record.name!r} have different paths: {listed}",
                    f"模型 {entry.record.name!r} 的各后端路径不同：{listed_zh}",
                ),
                Words(
                    "Check that they hold the same model; otherwise give each its own public name.",
                    "请确认它们是同一个模型；否则给每个模型单独的公开名称。",
                ),
            )


def limit_above_context(draft: Draft) -> Iterator[Finding]:
    """A model's context limit is not above what all its backends can hold."""
    records = [entry.record for entry in draft.backends]
    for entry in draft.models:
        limit = entry.record.limits.max_context_tokens
        for member in members_among(records, entry.record):
            length = member.backend.max_model_len
            if limit is not None and length is not None and limit > length:
                yield Finding(
                    Code.LIMIT_ABOVE_CONTEXT,
                    ("models", entry.index, "limits", "max_context_tokens"),
                    Words(
                        f"{limit} tokens are more than the {length} of backend "
                        f"{member.backend.name!r}",
                        f"{limit} token 超过后端 {member.backend.name!r} 的 {length}",
                    ),
                    Words(
                        "Lower it, or leave it out: each backend's own limit holds then.",
                        "请调小，或不填：此时以每个后端自己的上限为准。",
                    ),
                )
                break

"""Rules: what models refer to exists, and every model has somebody to serve it."""

from collections.abc import Iterator

from gateway.config.draft import Draft, Entry
from gateway.config.members import all_members
from gateway.config.problems import Code, Finding, Path
from gateway.config.schema import ModelConfig
from gateway.config.wording import meant
from gateway.words import Words


def backend_references(draft: Draft) -> Iterator[Finding]:
    """Each named backend exists and is named once per model."""
    for entry in draft.models:
        seen: set[str] = set()
        for position, ref in enumerate(entry.record.backends):
            path = ("models", entry.index, "backends", position)
            if ref.backend not in draft.backend_names:
                yield Finding(
                    Code.UNKNOWN_BACKEND,
                    path,
                    Words(
                        f"there is no backend {ref.backend!r}", f"没有名为 {ref.backend!r} 的后端"
                    ),
                    meant(
                        ref.backend,
                        draft.backend_names,
                        Words("Add it below backends.", "请在 backends 下添加它。"),
                    ),
                )
            if ref.backend in seen:
                yield Finding(
                    Code.BACKEND_TWICE_IN_MODEL,
                    path,
                    Words(
                        f"backend {ref.backend!r} is listed twice",
                        f"后端 {ref.backend!r} 列出了两次",
                    ),
                    Words(
                        "Remove one; a backend serves a model under one name.",
                        "请删除一个；一个后端对一个模型只用一个名称。",
                    ),
                )
            seen.add(ref.backend)


def has_backends(draft: Draft) -> Iterator[Finding]:
    """A model has backends or a selector, not both, and at least one of them is enabled."""
    for entry in draft.models:
        if entry.damaged & {"backends", "selector"}:
            continue
        model, path = entry.record, ("models", entry.index)
        if model.backends and model.selector is not None:
            yield Finding(
                Code.BACKENDS_AND_SELECTOR,
                (*path, "selector"),
                Words(
                    f"model {model.name!r} has both backends and a selector",
                    f"模型 {model.name!r} 同时有 backends 和 selector",
                ),
                Words("Keep one of the two.", "请只保留其中一个。"),
            )
        elif not model.backends and not model.selector:
            yield Finding(
                Code.MODEL_WITHOUT_BACKENDS,
                path,
                Words(
                    f"model {model.name!r} has neither backends nor a selector",
                    f"模型 {model.name!r} 既没有 backends 也没有 selector",
                ),
                Words(
                    "Add `backends: [NAME]`, or a selector such as `selector: {tier: graph}`.",
                    "请添加 `backends: [名称]`，或 `selector: {tier: graph}` 这样的选择器。",
                ),
            )
        else:
            yield from _reachable(draft, entry)


def _reachable(draft: Draft, entry: Entry[ModelConfig]) -> Iterator[Finding]:
    model, path = entry.record, ("models", entry.index)
    found = all_members((backend.record for backend in draft.backends), model)
    if not found and model.selector is not None and not _any_unread(draft):
        labels = sorted(
            {f"{k}: {v}" for b in draft.backends for k, v in b.record.selectable.items()}
        )
        wanted = ", ".join(f"{k}: {v}" for k, v in model.selector.items())
        yield Finding(
            Code.SELECTOR_MATCHES_NOTHING,
            (*path, "selector"),
            Words(f"no backend has all of {{{wanted}}}", f"没有后端同时具备 {{{wanted}}}"),
            Words(
                f"Correct the selector or the labels. There are: {'; '.join(labels[:12])}.",
                f"请修正选择器或标签。现有：{'; '.join(labels[:12])}。",
            ),
        )
    elif found and model.enabled and not any(member.backend.enabled for member in found):
        names = ", ".join(member.backend.name for member in found)
        yield Finding(
            Code.MODEL_ALL_DISABLED,
            path,
            Words(
                f"all backends of model {model.name!r} are disabled ({names})",
                f"模型 {model.name!r} 的后端全部停用（{names}）",
            ),
            Words(
                "Enable one of them, or set enabled: false on the model.",
                "请启用其中一个，或对该模型设置 enabled: false。",
            ),
        )


def _any_unread(draft: Draft) -> bool:
    return len(draft.backends) < len(draft.backend_names) or any(
        entry.damaged for entry in draft.backends
    )


def fallbacks(draft: Draft) -> Iterator[Finding]:
    """Fallbacks are other models of the file, each once.

    Two models may be each other's fallback: the fallbacks of a fallback are not followed.
    """
    for entry in draft.models:
        seen: set[str] = set()
        for position, name in enumerate(entry.record.fallback_models):
            path = ("models", entry.index, "fallback_models", position)
            if name == entry.record.name or name in entry.record.aliases:
                yield Finding(
                    Code.FALLBACK_TO_ITSELF,
                    path,
                    Words(
                        f"model {entry.record.name!r} has itself as fallback",
                        f"模型 {entry.record.name!r} 把自己当作备用模型",
                    ),
                    Words("Remove it from the list.", "请从列表中删除。"),
                )
            elif name in seen:
                yield Finding(
                    Code.FALLBACK_TWICE,
                    path,
                    Words(f"{name!r} is listed twice", f"{name!r} 列出了两次"),
                    Words("Remove one.", "请删除一个。"),
                )
            else:
                yield from _model_reference(draft, name, path)
                yield from _disabled_fallback(draft, entry, name, path)
            seen.add(name)


def _disabled_fallback(
    draft: Draft, entry: Entry[ModelConfig], name: str, path: Path
) -> Iterator[Finding]:
    if entry.record.enabled and _only_disabled(draft, name):
        yield Finding(
            Code.FALLBACK_DISABLED,
            path,
            Words(f"the fallback {name!r} is disabled", f"备用模型 {name!r} 已停用"),
            Words(
                "Enable that model, or remove it from the list.",
                "请启用该模型，或从列表中删除。",
            ),
        )


def default_model(draft: Draft) -> Iterator[Finding]:
    """The default model exists and is enabled."""
    name = draft.top.default_model
    if name is None:
        return
    yield from _model_reference(draft, name, ("default_model",))
    if _only_disabled(draft, name):
        yield Finding(
            Code.DEFAULT_MODEL_DISABLED,
            ("default_model",),
            Words(f"the default model {name!r} is disabled", f"默认模型 {name!r} 已停用"),
            Words("Enable it, or choose another.", "请启用它，或另选一个。"),
        )


def _only_disabled(draft: Draft, name: str) -> bool:
    named = [entry for entry in draft.models if entry.record.name == name]
    return bool(named) and not any(entry.record.enabled for entry in named)


def _model_reference(draft: Draft, name: str, path: Path) -> Iterator[Finding]:
    if name in draft.model_names:
        return
    owner = next((e.record.name for e in draft.models if name in e.record.aliases), None)
    if owner is not None:
        message = Words(
            f"{name!r} is an alias of model {owner!r}", f"{name!r} 是模型 {owner!r} 的别名"
        )
        remedy = Words(f"Write {owner!r} here.", f"请在此处写 {owner!r}。")
    else:
        message = Words(f"there is no model {name!r}", f"没有名为 {name!r} 的模型")
        otherwise = Words("Add it below models.", "请在 models 下添加它。")
        remedy = meant(name, draft.model_names, otherwise)
    yield Finding(Code.UNKNOWN_MODEL, path, message, remedy)


def backend_unused(draft: Draft) -> Iterator[Finding]:
    """Each enabled backend serves some model."""
    if len(draft.models) < len(draft.model_names) or any(e.damaged for e in draft.models):
        return
    records = [entry.record for entry in draft.backends]
    used = {m.backend.name for model in draft.models for m in all_members(records, model.record)}
    used |= {ref.backend for model in draft.models for ref in model.record.backends}
    for entry in draft.enabled_backends:
        if entry.record.name not in used:
            yield Finding(
                Code.BACKEND_UNUSED,
                ("backends", entry.index),
                Words(
                    f"no model uses backend {entry.record.name!r}",
                    f"没有模型使用后端 {entry.record.name!r}",
                ),
                Words(
                    "Add it to a model, or set enabled: false.",
                    "请把它加入某个模型，或设置 enabled: false。",
                ),
            )


def nothing_served(draft: Draft) -> Iterator[Finding]:
    """Some model is enabled."""
    if "models" in draft.unread or len(draft.models) < len(draft.model_names):
        return
    if not draft.enabled_models:
        yield Finding(
            Code.NOTHING_SERVED,
            ("models",),
            Words(
                "no model is enabled, so every request is refused",
                "没有启用任何模型，因此所有请求都会被拒绝",
            ),
            Words("Add a model, or enable one.", "请添加或启用一个模型。"),
        )

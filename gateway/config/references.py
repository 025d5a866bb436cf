"""Rules: what models refer to exists, and every model has somebody to serve it."""

from collections.abc import Iterator

from gateway.config.draft import Draft, Entry
from gateway.config.members import all_members
from gateway.config.problems import Code, Finding, Path
from gateway.config.schema import ModelConfig
from gateway.config.wording import meant


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
                    f"there is no backend {ref.backend!r}",
                    meant(ref.backend, draft.backend_names, "Add it below backends."),
                )
            if ref.backend in seen:
                yield Finding(
                    Code.BACKEND_TWICE_IN_MODEL,
                    path,
                    f"backend {ref.backend!r} is listed twice",
                    "Remove one; a backend serves a model under one name.",
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
                f"model {model.name!r} has both backends and a selector",
                "Keep one of the two.",
            )
        elif not model.backends and not model.selector:
            yield Finding(
                Code.MODEL_WITHOUT_BACKENDS,
                path,
                f"model {model.name!r} has neither backends nor a selector",
                "Add `backends: [NAME]`, or a selector such as `selector: {tier: graph}`.",
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
            f"no backend has all of {{{wanted}}}",
            f"Correct the selector or the labels. There are: {'; '.join(labels[:12])}.",
        )
    elif found and model.enabled and not any(member.backend.enabled for member in found):
        names = ", ".join(member.backend.name for member in found)
        yield Finding(
            Code.MODEL_ALL_DISABLED,
            path,
            f"all backends of model {model.name!r} are disabled ({names})",
            "Enable one of them, or set enabled: false on the model.",
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
                    f"model {entry.record.name!r} has itself as fallback",
                    "Remove it from the list.",
                )
            elif name in seen:
                yield Finding(Code.FALLBACK_TWICE, path, f"{name!r} is listed twice", "Remove one.")
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
            f"the fallback {name!r} is disabled",
            "Enable that model, or remove it from the list.",
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
            f"the default model {name!r} is disabled",
            "Enable it, or choose another.",
        )


def _only_disabled(draft: Draft, name: str) -> bool:
    named = [entry for entry in draft.models if entry.record.name == name]
    return bool(named) and not any(entry.record.enabled for entry in named)


def _model_reference(draft: Draft, name: str, path: Path) -> Iterator[Finding]:
    if name in draft.model_names:
        return
    owner = next((e.record.name for e in draft.models if name in e.record.aliases), None)
    if owner is not None:
        message = f"{name!r} is an alias of model {owner!r}"
        remedy = f"Write {owner!r} here."
    else:
        message = f"there is no model {name!r}"
        remedy = meant(name, draft.model_names, "Add it below models.")
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
                f"no model uses backend {entry.record.name!r}",
                "Add it to a model, or set enabled: false.",
            )


def nothing_served(draft: Draft) -> Iterator[Finding]:
    """Some model is enabled."""
    if "models" in draft.unread or len(draft.models) < len(draft.model_names):
        return
    if not draft.enabled_models:
        yield Finding(
            Code.NOTHING_SERVED,
            ("models",),
            "no model is enabled, so every request is refused",
            "Add a model, or enable one.",
        )

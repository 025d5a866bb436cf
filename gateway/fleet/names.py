"""The one place that maps what a client sends as `model` to a configured model."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.config.schema import ModelConfig, RoutingConfig
from gateway.errors import Outcome, Refusal

# Both bound the work and the answer's size for names that are made up.
_NAMES_SHOWN: Final = 20
_LONGEST_COMPARED: Final = 160


@dataclass(frozen=True, slots=True)
class Member:
    """A backend as one model uses it: its facts, and the name it answers to for this model."""

    backend: BackendConfig
    served_name: str


@dataclass(frozen=True, slots=True)
class Model:
    """A public model with the enabled backends that serve it, in the file's order."""

    config: ModelConfig
    members: tuple[Member, ...]

    @property
    def name(self) -> str:
        """The public name."""
        return self.config.name


def members_of(model: ModelConfig, backends: Iterable[BackendConfig]) -> tuple[Member, ...]:
    """The enabled backends of a model: those it lists, or those its selector matches."""
    enabled = {b.name: b for b in backends if b.enabled}
    if model.selector is not None:
        wanted = model.selector.items()
        return tuple(
            Member(b, b.served_name) for b in enabled.values() if wanted <= b.selectable.items()
        )
    return tuple(
        Member(enabled[ref.backend], ref.served_name or enabled[ref.backend].served_name)
        for ref in model.backends
        if ref.backend in enabled
    )


class NameTable:
    """Names and aliases of one routing file; immutable.

    Names are compared exactly, with case, as engines do. `resolve` raises `Refusal` with
    MODEL_NOT_FOUND and says in it what the name looks like and which name to use.
    """

    def __init__(self, config: RoutingConfig) -> None:
        models = [m for m in config.models if m.enabled]
        self.models: Mapping[str, Model] = MappingProxyType(
            {m.name: Model(m, members_of(m, config.backends)) for m in models}
        )
        by_name = dict(self.models)
        for m in models:
            for alias in m.aliases:
                by_name.setdefault(alias, self.models[m.name])
        self._by_name: Mapping[str, Model] = MappingProxyType(by_name)
        self._clues: Mapping[str, tuple[str, str]] = MappingProxyType(_clues(self.models.values()))
        self.default: Model | None = self._by_name.get(config.default_model or "")

    def __repr__(self) -> str:
        return f"<NameTable {len(self.models)} models, {len(self._by_name)} names>"

    def find(self, name: str) -> Model | None:
        """The model of a name or alias, or None."""
        return self._by_name.get(name)

    def resolve(self, name: str, is_permitted: Callable[[str], bool]) -> Model:
        """The model that `name` means, of those that the caller may use.

        A model that exists but is not permitted is as unknown as any other, so that names of
        other tenants can't be guessed.
        """
        model = self._by_name.get(name)
        if model is not None and is_permitted(model.name):
            return model
        raise self._not_found(name, is_permitted)

    def require_default(self) -> Model:
        """The default model; raises `Refusal` with MODEL_REQUIRED if there is none."""
        if self.default is None:
            raise Refusal(
                Outcome.MODEL_REQUIRED,
                'The request has no model. Set "model" to one of the names in /v1/models.',
                param="model",
            )
        return self.default

    def _not_found(self, name: str, is_permitted: Callable[[str], bool]) -> Refusal:
        usable = [n for n, m in self._by_name.items() if is_permitted(m.name)]
        shown = name if len(name) <= _LONGEST_COMPARED else name[:_LONGEST_COMPARED] + "…"
        parts = [f"The model '{shown}' does not exist here."]
        parts += self._explanation(name, usable)
        listed = ", ".join(f"'{n}'" for n in usable[:_NAMES_SHOWN])
        more = len(usable) - _NAMES_SHOWN
        if listed:
            parts.append(f"Usable names: {listed}{f' and {more} more' if more > 0 else ''}.")
        else:
            parts.append("No model is configured for you.")
        return Refusal(Outcome.MODEL_NOT_FOUND, " ".join(parts), param="model")

    def _explanation(self, name: str, usable: list[str]) -> list[str]:
        clue = self._clues.get(name.strip()) or self._clues.get(name.strip().rstrip("/"))
        if clue is not None and clue[1] in usable:
            return [f"'{name.strip()}' is {clue[0]}; ask for '{clue[1]}'."]
        if len(name) > _LONGEST_COMPARED:
            return []
        same = [n for n in usable if _folded(n) == _folded(name)]
        if same:
            told = f"it differs from '{same[0]}' only in {_difference(name, same[0])}"
            return [f"Names are exact, and {told}; ask for '{same[0]}'."]
        close = difflib.get_close_matches(name, usable[:1000], n=3, cutoff=0.6)
        if close:
            return ["Did you mean " + " or ".join(f"'{n}'" for n in close) + "?"]
        return []


def _clues(models: Iterable[Model]) -> dict[str, tuple[str, str]]:
    """What else people call a model: text -> (what that text is, the name to use)."""
    found: dict[str, tuple[str, str]] = {}
    for model in models:
        for member in model.members:
            backend, use = member.backend, model.name
            if backend.container:
                found.setdefault(
                    backend.container, (f"the container of backend '{backend.name}'", use)
                )
            for path in filter(None, (backend.root, member.served_name)):
                if "/" in path:
                    tail = path.rstrip("/").rsplit("/", 1)[-1]
                    found.setdefault(path, (f"the model path of backend '{backend.name}'", use))
                    found.setdefault(
                        path.rstrip("/"), (f"the model path of backend '{backend.name}'", use)
                    )
                    found.setdefault(
                        tail, (f"the last part of the model path of '{backend.name}'", use)
                    )
            found.setdefault(
                member.served_name, (f"the name that backend '{backend.name}' itself uses", use)
            )
            found.setdefault(backend.name, ("the name of a backend", use))
    return found


def _folded(name: str) -> str:
    return "".join(name.split()).casefold()


def _difference(name: str, other: str) -> str:
    if "".join(name.split()) == "".join(other.split()):
        return "white space"
    if name.casefold() == other.casefold():
        return "letter case"
    return "letter case and white space"

"""Which public models a fleet of candidates makes, and who serves each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from unicodedata import category

from gateway.adoption.candidate import Candidate, Fleet

_MAX_NAME_CHARS: Final = 256
_UNFIT: Final = ("Cc", "Cs")


@dataclass(frozen=True, slots=True)
class AdoptedModel:
    """A public name, its aliases, and its backends, each with the name to ask it for ("": its
    own)."""

    name: str
    aliases: tuple[str, ...]
    backends: tuple[tuple[str, str], ...]


def models_of(fleet: Fleet) -> tuple[AdoptedModel, ...]:
    """One model for each that is served; engines of one model path serve it together.

    Names that would collide are left out as aliases, and become the backend's name as a model's.
    """
    groups: dict[str, list[Candidate]] = {}
    for candidate in fleet.candidates:
        groups.setdefault(_key(candidate), []).append(candidate)
    taken: set[str] = set()
    named = [(_name(members, taken), members) for members in groups.values()]
    found = [_model(name, members, taken) for name, members in named]
    return (*found, *_adapters(fleet, taken))


def public_name(served_name: str) -> str:
    """A name for clients: of a path only its last part."""
    last = served_name.rstrip("/").rsplit("/", 1)[-1]
    return usable_text(usable_text(last)[:_MAX_NAME_CHARS]) or "model"


def usable_text(text: str) -> str:
    """A text as a routing file takes it: no control characters, no white space around it."""
    return "".join(ch for ch in text if category(ch) not in _UNFIT).strip()


def _key(candidate: Candidate) -> str:
    """What makes two backends serve one model: the files they load, or else the name."""
    if candidate.model_path:
        return f"path {public_name(candidate.model_path).casefold()}"
    return f"name {candidate.served_name}"


def _name(members: list[Candidate], taken: set[str]) -> str:
    wanted = public_name(members[0].served_name)
    name = wanted if wanted not in taken else members[0].name
    number = 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    taken.add(name)
    return name


def _model(name: str, members: list[Candidate], taken: set[str]) -> AdoptedModel:
    aliases = []
    for served in (one for member in members for one in member.served_names):
        alias = public_name(served)
        if alias not in taken:
            taken.add(alias)
            aliases.append(alias)
    return AdoptedModel(name, tuple(aliases), tuple((member.name, "") for member in members))


def _adapters(fleet: Fleet, taken: set[str]) -> Iterator[AdoptedModel]:
    """LoRA adapters are models of their own, asked for by their names."""
    serving: dict[str, list[str]] = {}
    for candidate in fleet.candidates:
        # A name that a routing file can't hold can't be asked for.
        for lora in (name for name in candidate.lora_names if name and usable_text(name) == name):
            serving.setdefault(lora, []).append(candidate.name)
    for lora, backends in serving.items():
        name = public_name(lora)
        if name in taken:
            continue
        taken.add(name)
        unique = dict.fromkeys(backends)
        yield AdoptedModel(name, (), tuple((backend, lora) for backend in unique))

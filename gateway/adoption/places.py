"""The sources of one candidate: which is believed, and where they differ."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any, NamedTuple

from gateway.adoption.chips import release_in, tag_of
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.saying import Saying, disagreement, says
from gateway.adoption.sources import EngineLog
from gateway.adoption.starts import Start
from gateway.config.containers import short_name
from gateway.fleet.account import Account


class _Rank(IntEnum):
    """How much a source counts; the lowest number is believed."""

    RUNNING = 0
    LOG = 1
    COMMAND = 2


class _Said(NamedTuple):
    value: Any
    rank: _Rank
    place: str


class Places:
    """Asks the sources in their order for each fact, and keeps how they differ."""

    __slots__ = ("_account", "_log", "_origin", "_start", "differences")

    def __init__(
        self,
        origin: Origin,
        account: Account | None,
        log: EngineLog | None,
        start: Start | None = None,
    ) -> None:
        self._origin = origin
        self._account = account
        self._log = log
        self._start = start
        self.differences: list[Finding] = []

    def __repr__(self) -> str:
        return f"Places({self._origin}, {len(self.differences)} differences)"

    @property
    def promised_eager(self) -> bool | None:
        """Whether the command is eager; None where it does not say, or there is none."""
        return self._start.is_eager if self._start else None

    def told(self, field: str, values: Sequence[Any]) -> Any:
        """The value of the first source that says one; others that say another are noted.

        `values` are those of the running server, the log and the command; other command lines of
        the same engine are asked here.
        """
        said = [one for one in self._said(field, values) if says(one.value)]
        if not said:
            return None
        first = said[0]
        for other in said[1:]:
            if not _is_same(field, first.value, other.value) and not _is_ruled(field, first, other):
                self._differ(field, first, other)
        return first.value

    def note(self, field: str, one: tuple[Any, object], other: tuple[Any, object]) -> None:
        """Two values with their places, if both say something else."""
        if says(one[0]) and says(other[0]) and one[0] != other[0]:
            pair = [_Said(value, _Rank.COMMAND, str(place)) for value, place in (one, other)]
            self._differ(field, *pair)

    def told_versions(self, image: str, origin: Origin) -> None:
        """Note a log of another release than what runs, or than the image's tag.

        What runs and an image are compared by a rule of its own.
        """
        logged = release_in((self._log.version if self._log else None) or "")
        running = release_in((self._account.version if self._account else None) or "")
        if self._log is None or logged is None:
            return
        text = self._log.version or ""
        tag = tag_of(image)
        if running is not None and running != logged and self._account is not None:
            version = self._account.version
            self.note("version", (version, self._account.url), (text, self._log.origin))
        elif running is None and release_in(tag) not in (None, logged):
            self.note("version", (text, self._log.origin), (tag, origin))

    def _said(self, field: str, values: Sequence[Any]) -> Iterator[_Said]:
        places = (
            self._account.url if self._account else "",
            str(self._log.origin) if self._log else "",
            str(self._origin),
        )
        for value, rank, place in zip(values, _Rank, places, strict=True):
            yield _Said(value, rank, place)
        if self._start is None or field == "port":
            return
        for telling in self._start.tellings:
            arguments = telling.arguments
            is_eager = replace(self._start, arguments=arguments).is_eager
            value = is_eager if field == "eager" else getattr(arguments, field)
            yield _Said(value, _Rank.COMMAND, str(telling.origin))

    def _differ(self, field: str, one: _Said, other: _Said) -> None:
        first, second = Saying(one.value, one.place), Saying(other.value, other.place)
        self.differences.append(disagreement(field, first, second, self._origin))


def _is_same(field: str, one: Any, other: Any) -> bool:
    if field == "model":
        paths = [str(value).rstrip("/") for value in (one, other)]
        if all(path.startswith("/") for path in paths):
            return paths[0] == paths[1]
        return short_name(paths[0]) == short_name(paths[1])
    return bool(one == other)


def _is_ruled(field: str, first: _Said, other: _Said) -> bool:
    """Whether `rules.running` tells the difference: graphs that a command allows are not used."""
    is_seen = first.rank is not _Rank.COMMAND and other.rank is _Rank.COMMAND
    return field == "eager" and is_seen and bool(first.value)

"""Which log, and which running server, belongs to which backend."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gateway.adoption.addresses import Address, address_in
from gateway.adoption.promises import Fact, Promise
from gateway.adoption.sources import EngineLog
from gateway.adoption.starts import Start
from gateway.fleet.account import Account


class LeftLog(NamedTuple):
    """A log that was given to nobody, and the indices of those that it fits."""

    log: EngineLog
    fitting: tuple[int, ...]


def logs_of(
    promises: Sequence[Promise], logs: Sequence[EngineLog]
) -> tuple[dict[int, EngineLog], tuple[LeftLog, ...]]:
    """The log of each backend by its index, and those that fit none, or several alike.

    A log belongs to the only backend that all it says fits; one whose command names the log's file
    comes first, then the one of which the log confirms the most. What becomes of graphs at a start
    is no promise, so where nobody fits, a log that names its backend may say something else of
    them. Each backend has one log, the first.
    """
    found: dict[int, EngineLog] = {}
    left: list[LeftLog] = []
    for log in logs:
        fitting = _fitting(promises, log)
        if len(fitting) == 1 and fitting[0] not in found:
            found[fitting[0]] = log
        else:
            left.append(LeftLog(log, tuple(fitting)))
    return found, tuple(left)


def _fitting(promises: Sequence[Promise], log: EngineLog) -> list[int]:
    exact = [i for i, one in enumerate(promises) if _is_consistent(one, log)]
    named = [i for i in exact if promises[i].writes(log)]
    if exact:
        return named if len(named) == 1 else _closest(promises, exact, log)
    changed = [i for i, one in enumerate(promises) if _is_named(one, log, len(promises) == 1)]
    named = [i for i in changed if promises[i].writes(log)]
    return named if len(named) == 1 else _closest(promises, changed, log)


def _is_consistent(promise: Promise, log: EngineLog) -> bool:
    if log.is_eager and promise.is_eager is None:
        # Without a word of graphs an engine captures them; eager needs a reason.
        return False
    return _agree((*promise.who(log), *promise.sizes(log), *promise.graphs(log)))


def _is_named(promise: Promise, log: EngineLog, is_only: bool) -> bool:
    """Whether the log says whose it is, and contradicts it in nothing but graphs."""
    who, sizes = promise.who(log), promise.sizes(log)
    is_told = promise.writes(log) or _confirmed(who) > 0
    return (is_told or (is_only and _confirmed(sizes) > 0)) and _agree((*who, *sizes))


def _closest(promises: Sequence[Promise], fitting: Sequence[int], log: EngineLog) -> list[int]:
    """Of those that fit, the ones of which the log confirms the most."""
    scores = {}
    for index in fitting:
        one = promises[index]
        scores[index] = _confirmed((*one.who(log), *one.sizes(log), *one.graphs(log)))
    best = max(scores.values(), default=0)
    return [index for index in fitting if scores[index] == best]


def _agree(facts: Iterable[Fact]) -> bool:
    return all(one == other for one, other in facts if one is not None and other is not None)


def _confirmed(facts: Iterable[Fact]) -> int:
    return sum(one is not None and one == other for one, other in facts)


def accounts_of(
    starts: Sequence[Start], addresses: Sequence[Address], accounts: Sequence[Account]
) -> tuple[dict[int, Account], tuple[Account, ...]]:
    """The running server of each start by its index, and those that belong to none.

    By its address first. What was found elsewhere belongs to the only start of its model, by the
    served name or else by the path, that may be on that machine and was not found at its address.
    """
    found: dict[int, Account] = {}
    rest: list[Account] = []
    for account in accounts:
        free = [i for i in _at(addresses, account) if i not in found]
        index = next(iter(_serving(starts, free, account)), None)
        if index is None:
            rest.append(account)
        else:
            found[index] = account
    wanted = [_elsewhere(starts, addresses, found, account) for account in rest]
    left: list[Account] = []
    for account, index in zip(rest, wanted, strict=True):
        if index is not None and wanted.count(index) == 1:
            found[index] = account
        else:
            left.append(account)
    return found, tuple(left)


def _at(addresses: Sequence[Address], account: Account) -> list[int]:
    seen = address_in(account.url)
    return [i for i, one in enumerate(addresses) if seen and one.listener == seen.listener]


def _elsewhere(
    starts: Sequence[Start],
    addresses: Sequence[Address],
    found: dict[int, Account],
    account: Account,
) -> int | None:
    """The only start of the server's model that may be where the server is."""
    seen = address_in(account.url)
    free = [
        index
        for index, one in enumerate(addresses)
        if seen is not None
        and index not in found
        and (one.is_host_guessed or one.listener[0] == seen.listener[0])
    ]
    serving = _serving(starts, free, account)
    return serving[0] if len(serving) == 1 else None


def _serving(starts: Sequence[Start], indices: Sequence[int], account: Account) -> list[int]:
    """Those of the starts that serve what the server lists; a name says more than a path."""
    by_name = [i for i in indices if _shares_name(starts[i], account)]
    return by_name or [i for i in indices if _shares_path(starts[i], account)]


def _shares_name(start: Start, account: Account) -> bool:
    return bool({card.id for card in account.cards or ()} & set(start.served_names))


def _shares_path(start: Start, account: Account) -> bool:
    model = (start.arguments.model or "").rstrip("/")
    roots = {(card.root or "").rstrip("/") for card in account.cards or ()}
    return bool(model) and model in roots

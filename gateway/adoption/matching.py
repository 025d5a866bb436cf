"""Which log, and which running server, belongs to which start."""

from collections.abc import Sequence
from posixpath import basename

from gateway.adoption.addresses import Address, address_in
from gateway.adoption.sources import EngineLog
from gateway.adoption.starts import Start
from gateway.config.containers import short_name
from gateway.fleet.account import Account


def logs_of(
    starts: Sequence[Start], logs: Sequence[EngineLog]
) -> tuple[dict[int, EngineLog], list[tuple[EngineLog, list[Start]]]]:
    """The log of each start by its index, and those that fit none or several alike.

    A log belongs to the only start that all it says fits; one whose command names the log's file
    comes first. Each start has one log.
    """
    found: dict[int, EngineLog] = {}
    left: list[tuple[EngineLog, list[Start]]] = []
    for log in logs:
        fitting = [i for i, start in enumerate(starts) if i not in found and _fits(start, log)]
        named = [i for i in fitting if _is_written_by(starts[i], log)]
        told = named if len(named) == 1 else _closest(starts, fitting, log)
        if len(told) == 1:
            found[told[0]] = log
        else:
            left.append((log, [starts[index] for index in told or fitting]))
    return found, left


def _closest(starts: Sequence[Start], fitting: Sequence[int], log: EngineLog) -> list[int]:
    """Of those that fit, the ones of which the log confirms the most."""
    scores = {index: _confirmed(starts[index], log) for index in fitting}
    best = max(scores.values(), default=0)
    return [index for index in fitting if scores[index] == best]


def _facts(start: Start, log: EngineLog) -> list[tuple[object, object]]:
    """What both may say: the command's value, and the log's."""
    arguments = start.arguments
    sizes = arguments.capture_sizes
    return [
        (arguments.port, log.port),
        (arguments.max_model_len, log.max_model_len),
        (arguments.max_num_seqs, log.max_num_seqs),
        (arguments.tensor_parallel, log.tensor_parallel),
        (short_name(arguments.model) if arguments.model else None, _model(log)),
        (arguments.served_names or None, log.served_names or None),
        (start.is_eager, log.is_eager),
        (len(sizes) if sizes and not start.is_eager else None, log.capture_count),
        (sizes if not start.is_eager else None, log.capture_sizes or None),
    ]


def _model(log: EngineLog) -> str | None:
    return short_name(log.model) if log.model else None


def _fits(start: Start, log: EngineLog) -> bool:
    if log.is_eager and start.is_eager is None:
        # Without a word of graphs an engine captures them; eager needs a reason.
        return False
    facts = _facts(start, log)
    return all(one == other for one, other in facts if one is not None and other is not None)


def _confirmed(start: Start, log: EngineLog) -> int:
    facts = _facts(start, log)
    return sum(one is not None and one == other for one, other in facts)


def _is_written_by(start: Start, log: EngineLog) -> bool:
    name = basename(log.origin.file)
    return any(basename(file) == name for file in start.launch.log_files)


def accounts_of(
    starts: Sequence[Start],
    addresses: Sequence[Address],
    accounts: Sequence[Account],
) -> tuple[dict[int, Account], list[Account]]:
    """The running server of each start by its index, and those that belong to none.

    By its address first; what was found elsewhere, by a served name that only one of them has.
    """
    found: dict[int, Account] = {}
    left: list[Account] = []
    for account in accounts:
        serving = [i for i, one in enumerate(starts) if i not in found and _serves(one, account)]
        address = address_in(account.url)
        there = [i for i in serving if address and addresses[i].listener == address.listener]
        # Its port is no more than a guess, so that of the server is taken.
        unsure = [i for i in serving if addresses[i].guesses]
        fitting = there or unsure
        if len(fitting) == 1:
            found[fitting[0]] = account
        else:
            left.append(account)
    return found, left


def _serves(start: Start, account: Account) -> bool:
    ids = {card.id for card in account.cards or ()}
    return not ids or bool(ids & set(start.served_names))

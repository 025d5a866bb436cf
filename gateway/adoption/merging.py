"""Everything that was read and asked, put together: a fleet of candidates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from posixpath import basename
from types import MappingProxyType
from typing import Final

from gateway.adoption.addresses import Address, address_in, address_of
from gateway.adoption.assembling import Assembled, assemble, of_account
from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.codes import Code
from gateway.adoption.conflicts import disable_colliding, guesses_told, two_ports
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.matching import LeftLog, accounts_of, logs_of
from gateway.adoption.naming import Served, names_for
from gateway.adoption.pairing import pair
from gateway.adoption.promises import Promise, promise_of, promise_of_account
from gateway.adoption.sources import Sighting
from gateway.adoption.starts import Start
from gateway.config.vocabulary import Tier
from gateway.fleet.account import Account, TroubleKind

_STILL_KNOWN: Final = (TroubleKind.UNHEALTHY,)


def merge(
    sighting: Sighting,
    accounts: Sequence[Account] = (),
    *,
    host: str = "127.0.0.1",
    configs: Mapping[str, str] = MappingProxyType({}),
) -> Fleet:
    """The fleet that all sources together show; `host` is where none of them tells the machine.

    `configs` are the texts of files, by name, that an engine's --config may mean.

    Names are given to all at the end. Of two that claim one address or one NPU of a machine, the
    later one is disabled, but never one that runs for one that was not seen to.
    """
    paired = pair(sighting, configs)
    starts = paired.starts
    addresses = [address_of(start, paired.containers, host) for start in starts]
    usable = [one for one in accounts if _is_usable(one)]
    running, lone = accounts_of(starts, addresses, usable)
    promises = [*map(promise_of, starts), *map(promise_of_account, lone)]
    logs, left = logs_of(promises, sighting.logs)
    findings = [*_of_sources(sighting, starts), *paired.findings]
    findings += [_unmatched(one, promises) for one in left]
    findings += [_failed(one) for one in accounts if not _is_usable(one)]
    found: list[Assembled] = []
    for number, account in enumerate(lone, len(starts)):
        address = address_in(account.url)
        if address is not None:
            found.append(of_account(account, address, logs.get(number)))
            findings += _other_model(account, address, starts, addresses)
    for index, (start, address) in enumerate(zip(starts, addresses, strict=True)):
        found.append(assemble(start, address, logs.get(index), running.get(index)))
    named = disable_colliding(tuple(_named([one.candidate for one in found])))
    for candidate, one in zip(named, found, strict=True):
        findings += [replace(finding, backend=candidate.name) for finding in one.findings]
    findings += guesses_told(named)
    findings += two_ports(named)
    return Fleet(named, paired.left, tuple(one.log for one in left), tuple(findings))


def _of_sources(sighting: Sighting, starts: Sequence[Start]) -> Iterator[Finding]:
    """What was noticed while reading; a file that an engine's --config means is not empty."""
    used = {basename(start.arguments.config_file or "") for start in starts}
    for finding in sighting.findings:
        if finding.code is not Code.NOTHING_FOUND or basename(finding.origin.file) not in used:
            yield finding


def _is_usable(account: Account) -> bool:
    if account.failure is None or account.failure.kind in _STILL_KNOWN:
        return bool(account.cards)
    return False


def _failed(account: Account) -> Finding:
    problem = account.trouble or "it lists no model"
    values = {"url": account.url, "problem": problem}
    return Finding(Code.ACCOUNT_FAILED, Origin(account.url), values)


def _unmatched(left: LeftLog, promises: Sequence[Promise]) -> Finding:
    names = ", ".join(name for i in left.fitting for name in promises[i].names[:1])
    values = {"count": str(len(left.fitting)), "names": names or "-"}
    return Finding(Code.LOG_NOT_MATCHED, left.log.origin, values)


def _other_model(
    account: Account, address: Address, starts: Sequence[Start], addresses: Sequence[Address]
) -> Iterator[Finding]:
    """A running server at an address that a command promises to another model."""
    ids = [card.id for card in account.cards or ()]
    for start, other in zip(starts, addresses, strict=True):
        if other.listener == address.listener and not set(ids) & set(start.served_names):
            origin = start.launch.origin
            values = {
                "url": address.url,
                "running": ids[0] if ids else "?",
                "here": account.url,
                "there": str(origin),
                "promised": start.served_names[0] if start.served_names else "?",
            }
            yield Finding(Code.PORT_OTHER_MODEL, origin, values)


def _named(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    served = [
        Served(one.served_name, one.model_path or "", one.tier is Tier.EAGER) for one in candidates
    ]
    for candidate, name in zip(candidates, names_for(served), strict=True):
        yield replace(candidate, name=name)

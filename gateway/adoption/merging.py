"""Everything that was read and asked, put together: a fleet of candidates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from posixpath import basename
from types import MappingProxyType

from gateway.adoption.addresses import Address, address_in, address_of, machine_of
from gateway.adoption.assembling import assemble, of_account
from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.matching import accounts_of, logs_of
from gateway.adoption.naming import Served, names_for
from gateway.adoption.pairing import pair
from gateway.adoption.sources import EngineLog, Sighting
from gateway.adoption.starts import Start
from gateway.config.vocabulary import Tier
from gateway.fleet.account import Account, TroubleKind

_STILL_KNOWN = (TroubleKind.UNHEALTHY,)


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
    later one is disabled.
    """
    paired = pair(sighting, configs)
    starts = paired.starts
    addresses = [address_of(start, paired.containers, host) for start in starts]
    logs, left = logs_of(starts, sighting.logs)
    usable = [one for one in accounts if _is_usable(one)]
    running, lone = accounts_of(starts, addresses, usable)
    findings = [*_of_sources(sighting, starts), *paired.findings]
    findings += [finding for start in starts for finding in start.findings]
    findings += [_unmatched(log, fitting) for log, fitting in left]
    findings += [_failed(one) for one in accounts if not _is_usable(one)]
    candidates: list[Candidate] = []
    for account in lone:
        address = address_in(account.url)
        if address is not None:
            candidates.append(of_account(account, address))
            findings += _other_model(account, address, starts, addresses)
    # What runs comes first, so that of two that collide it is the one that stays.
    for index, (start, address) in enumerate(zip(starts, addresses, strict=True)):
        candidate, differences = assemble(start, address, logs.get(index), running.get(index))
        candidates.append(candidate)
        findings += differences
    named = _settled(_named(candidates))
    findings += _guesses(named)
    findings += _two_ports(named)
    return Fleet(named, paired.left, tuple(log for log, _ in left), tuple(findings))


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


def _unmatched(log: EngineLog, fitting: Sequence[Start]) -> Finding:
    names = ", ".join(start.served_names[0] for start in fitting if start.served_names)
    values = {"count": str(len(fitting)), "names": names or "-"}
    return Finding(Code.LOG_NOT_MATCHED, log.origin, values)


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


def _settled(candidates: Iterator[Candidate]) -> tuple[Candidate, ...]:
    """Each with the name of the earlier one that it can't run beside."""
    settled: list[Candidate] = []
    for candidate in candidates:
        other = next((o for o in settled if not o.disabled_by and _collide(o, candidate)), None)
        settled.append(replace(candidate, disabled_by=other.name if other else ""))
    return tuple(settled)


def _collide(one: Candidate, other: Candidate) -> bool:
    is_same_port = one.port == other.port and machine_of(one.host) == machine_of(other.host)
    nodes = [machine_of(c.node or c.host) for c in (one, other)]
    return is_same_port or (nodes[0] == nodes[1] and bool(set(one.npus) & set(other.npus)))


def _guesses(candidates: Sequence[Candidate]) -> Iterator[Finding]:
    for candidate in candidates:
        for guess in candidate.guesses:
            yield Finding(guess.code, candidate.origin, guess.values, candidate.name)
    assumed = [c for c in candidates if c.is_host_guessed]
    if assumed:
        names = ", ".join(c.name for c in assumed)
        values = {"names": names, "host": assumed[0].host}
        yield Finding(Code.HOST_ASSUMED, assumed[0].origin, values)


def _two_ports(candidates: Sequence[Candidate]) -> Iterator[Finding]:
    """Two sources that put one model at two ports of a machine, on the same NPUs or on none."""
    for index, other in enumerate(candidates):
        for one in candidates[:index]:
            if not _is_same_model(one, other) or one.origin.file == other.origin.file:
                continue
            if one.port == other.port or machine_of(one.host) != machine_of(other.host):
                continue
            if one.npus and other.npus and not set(one.npus) & set(other.npus):
                continue
            values = {
                "model": other.served_name,
                "host": other.host,
                "here": str(one.origin),
                "port": str(one.port),
                "there": str(other.origin),
                "other_port": str(other.port),
            }
            yield Finding(Code.MODEL_AT_TWO_PORTS, other.origin, values, other.name)


def _is_same_model(one: Candidate, other: Candidate) -> bool:
    is_same_tier = one.tier is other.tier
    return is_same_tier and bool(set(one.served_names) & set(other.served_names))

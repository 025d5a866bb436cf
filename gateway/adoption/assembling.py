"""One candidate from one start, with its log and what its running server says."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from gateway.adoption.addresses import Address, address_in, confirmed_at
from gateway.adoption.candidate import Candidate, Guess
from gateway.adoption.chips import chip_of, chips_said, npus_of, tag_of, version_of
from gateway.adoption.engine.arguments import EngineArguments
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.pairing import pairing_guess
from gateway.adoption.places import Places
from gateway.adoption.sources import EngineLog
from gateway.adoption.starts import VISIBLE, Start, visible_in
from gateway.config.vocabulary import Tier
from gateway.fleet.account import Account, EngineFacts
from gateway.fleet.health.evidence import ModelCard

_KEY_VARIABLE: Final = "VLLM_API_KEY"


class Assembled(NamedTuple):
    """A candidate without a name yet, and what was noticed: its options, how its sources differ."""

    candidate: Candidate
    findings: tuple[Finding, ...]


def assemble(
    start: Start, address: Address, log: EngineLog | None, account: Account | None
) -> Assembled:
    """The candidate of a start.

    What runs counts more than a log, a log more than a command line, and that more than what its
    container sets.
    """
    places = Places(start.launch.origin, account, log, start)
    candidate = _of_start(start, _settled(address, account, places))
    image = start.container.image if start.container else ""
    places.told_versions(image, start.container.origin if start.container else Origin(""))
    _note_devices(start, places)
    _note_chips(start, places)
    served = tuple(card.id for card in _base(account))
    candidate = replace(
        _with_running(candidate, log, account, start.arguments, places),
        served_names=served or start.served_names or (log.served_names if log else ()),
        lora_names=tuple(dict.fromkeys((*candidate.lora_names, *_adapters(account)))),
    )
    return Assembled(candidate, (*start.findings, *places.differences))


def of_account(account: Account, address: Address, log: EngineLog | None = None) -> Assembled:
    """The candidate of a server that runs and that no command or container shows."""
    places = Places(Origin(account.url), account, log)
    places.told_versions("", Origin(""))
    candidate = Candidate(
        name="",
        scheme=address.scheme,
        host=address.host,
        port=address.port,
        prefix=address.prefix,
        engine_port=address.port,
        served_names=tuple(card.id for card in _base(account)),
        lora_names=_adapters(account),
        origins=(Origin(account.url),),
    )
    candidate = _with_running(candidate, log, account, EngineArguments(), places)
    return Assembled(candidate, tuple(places.differences))


def _settled(address: Address, account: Account | None, places: Places) -> Address:
    """The address; where a running server was found at another port, that of the server."""
    seen = address_in(account.url) if account else None
    if seen is None:
        return address
    if address.port != seen.port and not address.guesses:
        places.told("port", (seen.port, None, address.port))
    return confirmed_at(address, seen)


def _of_start(start: Start, address: Address) -> Candidate:
    """What the command and its container alone say."""
    arguments, container = start.arguments, start.container
    chip = chip_of(container, arguments.model)
    guesses = (*address.guesses, chip.guess, pairing_guess(start))
    return Candidate(
        name="",
        launch=start.launch,
        arguments=arguments,
        container=container,
        environment=start.environment,
        scheme=address.scheme,
        host=address.host,
        port=address.port,
        prefix=address.prefix,
        is_host_guessed=address.is_host_guessed,
        bind_host=arguments.host,
        engine_port=start.engine_port,
        port_map=address.port_map,
        node=(container.node if container else "") or start.launch.host.rpartition("@")[2],
        lora_names=tuple(name for name, _ in arguments.lora_modules),
        has_api_key=arguments.has_api_key or _KEY_VARIABLE in start.environment,
        visible_npus=start.visible_npus,
        npus=npus_of(start),
        chip=chip.chip,
        chip_reason=chip.reason,
        data_parallel=arguments.data_parallel,
        guesses=tuple(_given(guesses)),
        origins=start.origins or (start.launch.origin,),
    )


def _given(guesses: tuple[Guess | None, ...]) -> Iterator[Guess]:
    yield from (guess for guess in guesses if guess is not None)


def _with_running(
    candidate: Candidate,
    log: EngineLog | None,
    account: Account | None,
    arguments: EngineArguments,
    places: Places,
) -> Candidate:
    """The candidate with what several sources may say, each value by the first that says it."""
    engine = (account.engine if account else None) or EngineFacts()
    card = next(iter(_base(account)), None)
    root = (card.root if card else None) or engine.model
    length = (card.max_model_len if card else None) or engine.max_model_len
    logged = log.is_eager if log else None
    eager = places.told("eager", (engine.is_eager, logged, places.promised_eager))
    version, version_text = version_of(
        (
            account.version if account else None,
            log.version if log else None,
            tag_of(candidate.container.image) if candidate.container else None,
        )
    )
    sizes = engine.capture_sizes or (log.capture_sizes if log else None) or arguments.capture_sizes
    numbers: dict[str, Any] = {
        field: places.told(field, [getattr(one, field, None) for one in (engine, log, arguments)])
        for field in ("tensor_parallel", "max_num_seqs", "max_num_batched_tokens")
    }
    logged_length = log.max_model_len if log else None
    return replace(
        candidate,
        log=log,
        account=account,
        model_path=places.told("model", (root, log.model if log else None, arguments.model)),
        max_model_len=places.told(
            "max_model_len", (length, logged_length, arguments.max_model_len)
        ),
        quantization=places.told(
            "quantization", (engine.quantization, None, arguments.quantization)
        ),
        version=version,
        version_text=version_text,
        tier=Tier.EAGER if eager else Tier.GRAPH,
        is_eager=eager,
        graph_mode=engine.graph_mode
        or (log.graph_mode if log else None)
        or arguments.cudagraph_mode,
        # That a command and a log differ in sizes is told by a rule of its own.
        capture_sizes=None if eager else sizes or None,
        **numbers,
    )


def _note_devices(start: Start, places: Places) -> None:
    """A launch that sets the devices of its container again, to others."""
    container = start.container
    if container is None:
        return
    own, below = visible_in(start.launch.environment), visible_in(container.environment)
    places.note(VISIBLE, (own, start.launch.origin), (below, container.origin))


def _note_chips(start: Start, places: Places) -> None:
    """An image or weights for another chip than is named elsewhere."""
    first, *others = chips_said(start.container, start.arguments.model) or (None,)
    for other in others:
        if first is not None and other is not None:
            places.note("chip", (first.value.value, first.place), (other.value.value, other.place))


def _base(account: Account | None) -> tuple[ModelCard, ...]:
    cards = (account.cards if account else None) or ()
    return tuple(card for card in cards if card.parent is None)


def _adapters(account: Account | None) -> tuple[str, ...]:
    cards = (account.cards if account else None) or ()
    return tuple(card.id for card in cards if card.parent is not None)

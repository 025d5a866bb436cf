"""One candidate from one start, with its log and what its running server says."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeVar

from gateway.adoption.addresses import Address
from gateway.adoption.candidate import Candidate, Guess
from gateway.adoption.chips import chip_of, npus_of, tag_of, version_of
from gateway.adoption.engine.arguments import EngineArguments
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.pairing import pairing_guess
from gateway.adoption.saying import Saying, disagreement, says
from gateway.adoption.sources import EngineLog
from gateway.adoption.starts import Start
from gateway.config.vocabulary import Tier
from gateway.fleet.account import Account

T = TypeVar("T")

_KEY_VARIABLE: Final = "VLLM_API_KEY"


def assemble(
    start: Start, address: Address, log: EngineLog | None, account: Account | None
) -> tuple[Candidate, tuple[Finding, ...]]:
    """The candidate (without a name yet), and how its sources differ.

    What runs counts more than a log, a log more than a command line.
    """
    places = _Places(start, log, account)
    eager = places.told(
        "eager", _eager_of(account), None if log is None else log.is_eager, start.is_eager
    )
    version, version_text = version_of(
        (
            account.version if account else None,
            log.version if log else None,
            tag_of(start.container.image) if start.container else None,
        )
    )
    mode = account.engine.graph_mode if account and account.engine else None
    candidate = replace(
        _of_start(start, address),
        log=log,
        account=account,
        served_names=_names(start, log, account),
        version=version,
        version_text=version_text,
        tier=Tier.EAGER if eager else Tier.GRAPH,
        is_eager=eager,
        graph_mode=mode or (log.graph_mode if log else None) or start.arguments.cudagraph_mode,
        capture_sizes=None if eager else _sizes(account, log, start.arguments),
        **_numbers(places, start, log, account),
    )
    return candidate, tuple(places.differences)


def _of_start(start: Start, address: Address) -> Candidate:
    """What the command and its container alone say."""
    arguments, container = start.arguments, start.container
    chip = chip_of(container, arguments.model)
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
        quantization=arguments.quantization,
        has_api_key=arguments.has_api_key or _KEY_VARIABLE in start.environment,
        visible_npus=start.visible_npus,
        npus=npus_of(start),
        chip=chip.chip,
        chip_reason=chip.reason,
        data_parallel=arguments.data_parallel,
        guesses=tuple(_guesses(address, chip.guess, pairing_guess(start))),
        origins=start.origins or (start.launch.origin,),
    )


def _numbers(
    places: "_Places", start: Start, log: EngineLog | None, account: Account | None
) -> dict[str, Any]:
    """What several sources may say differently."""
    arguments = start.arguments
    engine = account.engine if account else None
    card = account.cards[0] if account and account.cards else None
    found: dict[str, Any] = {
        "model_path": places.told(
            "model", card.root if card else None, log.model if log else None, arguments.model
        ),
        "max_model_len": places.told(
            "max_model_len",
            card.max_model_len if card else None,
            log.max_model_len if log else None,
            arguments.max_model_len,
        ),
    }
    for field in ("tensor_parallel", "max_num_seqs", "max_num_batched_tokens"):
        sources = (engine, log, arguments)
        values = [None if source is None else getattr(source, field) for source in sources]
        found[field] = places.told(field, *values)
    return found


def _names(start: Start, log: EngineLog | None, account: Account | None) -> tuple[str, ...]:
    """The names it answers to, by what runs, by its command, by its log."""
    cards = account.cards or () if account else ()
    served = tuple(card.id for card in cards if card.parent is None)
    return served or start.served_names or (log.served_names if log else ())


def of_account(account: Account, address: Address) -> Candidate:
    """The candidate of a server that runs and that no other source shows."""
    engine, cards = account.engine, account.cards or ()
    base = [card for card in cards if card.parent is None]
    version, version_text = version_of((account.version,))
    eager = _eager_of(account)
    return Candidate(
        name="",
        account=account,
        scheme=address.scheme,
        host=address.host,
        port=address.port,
        prefix=address.prefix,
        engine_port=address.port,
        served_names=tuple(card.id for card in base),
        lora_names=tuple(card.id for card in cards if card.parent is not None),
        model_path=next((card.root for card in base if card.root), None),
        quantization=engine.quantization if engine else None,
        version=version,
        version_text=version_text,
        tensor_parallel=engine.tensor_parallel if engine else None,
        tier=Tier.EAGER if eager else Tier.GRAPH,
        is_eager=eager,
        graph_mode=engine.graph_mode if engine else None,
        capture_sizes=None if eager or engine is None else engine.capture_sizes or None,
        max_num_seqs=engine.max_num_seqs if engine else None,
        max_model_len=next((card.max_model_len for card in base), None),
        max_num_batched_tokens=engine.max_num_batched_tokens if engine else None,
        origins=(Origin(account.url),),
    )


class _Places:
    """The sources of one candidate in their order, and where they differ."""

    def __init__(self, start: Start, log: EngineLog | None, account: Account | None) -> None:
        self._start = start
        self._names = (
            account.url if account else "",
            str(log.origin) if log else "",
            str(start.launch.origin),
        )
        self.differences: list[Finding] = []

    def told(self, field: str, running: T | None, logged: T | None, ordered: T | None) -> T | None:
        """The value of the first source that says one; others that say another are noted."""
        values = (running, logged, ordered, *self._others(field))
        names = (*self._names, *(str(one.origin) for one in self._start.tellings))
        said: list[Saying[Any]] = [
            Saying(value, name) for value, name in zip(values, names, strict=True) if says(value)
        ]
        if not said:
            return None
        first, origin = said[0], self._start.launch.origin
        self.differences += [
            disagreement(field, first, other, origin)
            for other in said[1:]
            if not _is_same(field, first.value, other.value)
        ]
        value: T = first.value
        return value

    def _others(self, field: str) -> Iterator[Any]:
        """What further command lines of the same engine say."""
        for telling in self._start.tellings:
            arguments = telling.arguments
            is_eager = replace(self._start, arguments=arguments).is_eager
            yield is_eager if field == "eager" else getattr(arguments, field)


def _is_same(field: str, one: object, other: object) -> bool:
    if field == "eager":
        # Who contradicts the promise of graphs is told by a rule of its own.
        return True
    if field == "model":
        return str(one).rstrip("/") == str(other).rstrip("/")
    return one == other


def _eager_of(account: Account | None) -> bool | None:
    return account.engine.is_eager if account and account.engine else None


def _sizes(
    account: Account | None, log: EngineLog | None, arguments: EngineArguments
) -> tuple[int, ...] | None:
    """The captured sizes; that a command and a log differ is told by a rule of its own."""
    engine = account.engine if account else None
    for sizes in (
        engine.capture_sizes if engine else None,
        log.capture_sizes if log else None,
        arguments.capture_sizes,
    ):
        if sizes:
            return sizes
    return None


def _guesses(address: Address, *others: Guess | None) -> Iterable[Guess]:
    yield from address.guesses
    yield from (guess for guess in others if guess is not None)

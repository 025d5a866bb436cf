"""What each backend is expected to write into its log, for telling whose log it is."""

from posixpath import basename
from typing import NamedTuple

from gateway.adoption.sources import EngineLog
from gateway.adoption.starts import DEFAULT_PORT, Start
from gateway.config.containers import short_name
from gateway.fleet.account import Account, EngineFacts

Fact = tuple[object, object]
"""What a backend says, and what a log says; None where it does not say it."""


class Promise(NamedTuple):
    """What a command, or a running server, says that its log would say, too.

    `model` is the last part of the path; `captured` the sizes in ascending order, None where it is
    eager or does not say; `log_files` the names of the files that its output goes to.
    """

    names: tuple[str, ...] = ()
    model: str | None = None
    port: int | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    tensor_parallel: int | None = None
    is_eager: bool | None = None
    captured: tuple[int, ...] | None = None
    log_files: tuple[str, ...] = ()

    def who(self, log: EngineLog) -> list[Fact]:
        """What tells one engine from others on the same machine."""
        named = next((name for name in self.names if name in log.served_names[:1]), None)
        return [
            (self.port, log.port),
            (self.model, short_name(log.model) if log.model else None),
            (named or (self.names[:1] or None), named or (log.served_names[:1] or None)),
        ]

    def sizes(self, log: EngineLog) -> list[Fact]:
        """What never differs between a command and its log."""
        return [
            (self.max_model_len, log.max_model_len),
            (self.max_num_seqs, log.max_num_seqs),
            (self.max_num_batched_tokens, log.max_num_batched_tokens),
            (self.tensor_parallel, log.tensor_parallel),
        ]

    def graphs(self, log: EngineLog) -> list[Fact]:
        """What an engine may change when it starts: graphs fail, lists of sizes are cut."""
        captured = self.captured
        seen = log.capture_sizes
        return [
            (self.is_eager, log.is_eager),
            (len(captured) if captured else None, log.capture_count),
            (captured, tuple(sorted(set(seen))) if seen else None),
        ]

    def writes(self, log: EngineLog) -> bool:
        """Whether its output goes to a file of the log's name."""
        return basename(log.origin.file) in self.log_files


def promise_of(start: Start) -> Promise:
    """What the command of a start says."""
    arguments = start.arguments
    port = arguments.port or (None if arguments.config_file else DEFAULT_PORT)
    return Promise(
        names=start.served_names,
        model=short_name(arguments.model) if arguments.model else None,
        port=port,
        max_model_len=arguments.max_model_len,
        max_num_seqs=arguments.max_num_seqs,
        max_num_batched_tokens=arguments.max_num_batched_tokens,
        tensor_parallel=arguments.tensor_parallel,
        is_eager=start.is_eager,
        captured=_captured(arguments.capture_sizes, start.is_eager),
        log_files=tuple(basename(file) for file in start.launch.log_files),
    )


def promise_of_account(account: Account) -> Promise:
    """What a running server says; the port inside its container it does not know."""
    engine = account.engine or EngineFacts()
    base = [card for card in account.cards or () if card.parent is None]
    model = next((card.root for card in base if card.root), None) or engine.model
    return Promise(
        names=tuple(card.id for card in base),
        model=short_name(model) if model else None,
        max_model_len=next((card.max_model_len for card in base), None) or engine.max_model_len,
        max_num_seqs=engine.max_num_seqs,
        max_num_batched_tokens=engine.max_num_batched_tokens,
        tensor_parallel=engine.tensor_parallel,
        is_eager=engine.is_eager,
        captured=_captured(engine.capture_sizes, engine.is_eager),
    )


def _captured(sizes: tuple[int, ...] | None, is_eager: bool | None) -> tuple[int, ...] | None:
    return tuple(sorted(set(sizes))) if sizes and not is_eager else None

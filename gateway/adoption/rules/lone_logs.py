"""Rule: a log that fits no backend still tells something.

Where it contradicts a command, merging does not give it to that backend; who wrote it is found by
everything else that both say, and by the file to which the command writes.
"""

from collections.abc import Iterator
from dataclasses import replace
from posixpath import basename
from typing import Final

from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.findings import Finding
from gateway.adoption.rules import hybrid, running
from gateway.adoption.rules.rule import Rule
from gateway.adoption.sources import EngineLog
from gateway.config.containers import short_name
from gateway.config.vocabulary import Tier

OF_LOG: Final[tuple[Rule, ...]] = (
    running.runs_eager,
    running.capture_truncated,
    running.kv_below_batch,
    hybrid.prefix_hits_zero,
)
"""What a log shows even without the command that wrote it."""

AGAINST_COMMAND: Final[tuple[Rule, ...]] = (running.runs_eager, running.capture_differs)
"""What keeps a log from its backend, and is to be told."""


def lone_logs(fleet: Fleet) -> Iterator[Finding]:
    """Each log that is left is that of one backend and contradicts it, or stands for itself."""
    for log in fleet.logs:
        fitting = [one for one in fleet.candidates if one.log is None and _may_be(one, log)]
        named = [one for one in fitting if _writes(one, log)] or fitting
        if len(named) == 1:
            for rule in AGAINST_COMMAND:
                yield from rule(replace(named[0], log=log))
        elif not fitting:
            for rule in OF_LOG:
                yield from rule(_alone(log))


def _may_be(candidate: Candidate, log: EngineLog) -> bool:
    """Whether nothing but graphs and their sizes speaks against it."""
    arguments = candidate.arguments
    if arguments is None:
        return False
    facts: tuple[tuple[object, object], ...] = (
        (arguments.port, log.port),
        (arguments.max_model_len, log.max_model_len),
        (arguments.max_num_seqs, log.max_num_seqs),
        (arguments.tensor_parallel, log.tensor_parallel),
        (_short(arguments.model), _short(log.model)),
        (arguments.served_names or None, log.served_names or None),
    )
    return all(one == other for one, other in facts if one is not None and other is not None)


def _short(path: str | None) -> str | None:
    return short_name(path) if path else None


def _writes(candidate: Candidate, log: EngineLog) -> bool:
    files = candidate.launch.log_files if candidate.launch else ()
    return basename(log.origin.file) in {basename(file) for file in files}


def _alone(log: EngineLog) -> Candidate:
    """A log as a backend of which nothing else is known."""
    return Candidate(
        name="",
        log=log,
        served_names=log.served_names,
        model_path=log.model,
        tensor_parallel=log.tensor_parallel,
        tier=Tier.EAGER if log.is_eager else Tier.GRAPH,
        is_eager=log.is_eager,
        graph_mode=log.graph_mode,
        capture_sizes=log.capture_sizes,
        max_num_seqs=log.max_num_seqs,
        max_model_len=log.max_model_len,
        origins=(log.origin,),
    )

"""Rules: what logs and running servers show is what their commands promise."""

import re
from collections.abc import Iterator
from posixpath import basename
from typing import Final

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules import capture
from gateway.adoption.rules.reading import (
    NO_GRAPHS,
    joined,
    listed,
    promises_graphs,
    runs_graphs,
    seqs_of,
    tokens_per_request,
)
from gateway.adoption.rules.rule import at_container, at_launch, at_log, found

_RELEASE: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")


def runs_eager(candidate: Candidate) -> Iterator[Finding]:
    """A backend that is seen to run eager was meant to."""
    if not _is_seen_eager(candidate):
        return
    if promises_graphs(candidate):
        mode = candidate.arguments.cudagraph_mode if candidate.arguments else None
        yield found(
            Code.EAGER_THOUGH_GRAPH,
            candidate,
            at_log(candidate),
            launch=str(at_launch(candidate)),
            promised=mode or "-",
        )
    elif candidate.arguments is None:
        yield found(Code.EAGER_UNEXPLAINED, candidate, at_log(candidate))


def _is_seen_eager(candidate: Candidate) -> bool:
    log, engine = candidate.log, candidate.account.engine if candidate.account else None
    if engine is not None and (engine.is_eager is not None or engine.graph_mode is not None):
        return bool(engine.is_eager) or engine.graph_mode == NO_GRAPHS
    return log is not None and (bool(log.is_eager) or log.graph_mode == NO_GRAPHS)


def capture_differs(candidate: Candidate) -> Iterator[Finding]:
    """The sizes that were captured are those of the command."""
    arguments, log = candidate.arguments, candidate.log
    if arguments is None or not arguments.capture_sizes or _is_seen_eager(candidate):
        return
    told = set(arguments.capture_sizes)
    engine = candidate.account.engine if candidate.account else None
    for sizes in (engine.capture_sizes if engine else None, log.capture_sizes if log else None):
        if sizes is not None and set(sizes) != told:
            yield found(
                Code.CAPTURE_DIFFERS,
                candidate,
                at_launch(candidate),
                told=listed(sorted(told)),
                running=listed(sorted(set(sizes))),
            )
            return


def capture_truncated(candidate: Candidate) -> Iterator[Finding]:
    """The engine did not shorten its list of sizes below a full batch.

    Where the command already shows it, that is told instead.
    """
    largest = candidate.log.truncated_to if candidate.log else None
    seqs, per_request = seqs_of(candidate), tokens_per_request(candidate) or 1
    if largest is None or not runs_graphs(candidate):
        return
    if any(capture.seqs_above_capture(candidate)) or any(capture.seqs_off_grid(candidate)):
        return
    if seqs is None or largest < seqs * per_request:
        yield found(
            Code.CAPTURE_TRUNCATED,
            candidate,
            at_log(candidate),
            largest=largest // per_request,
            above=largest // per_request + 1,
            seqs=seqs or "?",
        )


def kv_below_batch(candidate: Candidate) -> Iterator[Finding]:
    """Full-length requests fit into the KV cache as many as run at once."""
    log = candidate.log
    ratio = log.concurrency_ratio if log else None
    seqs, per_request = seqs_of(candidate), tokens_per_request(candidate) or 1
    if log is None or ratio is None or seqs is None:
        return
    usable = [size // per_request for size in candidate.capture_sizes or ()]
    batch = min(seqs, max(usable)) if usable and runs_graphs(candidate) else seqs
    if ratio < batch:
        yield found(
            Code.KV_BELOW_BATCH,
            candidate,
            at_log(candidate),
            ratio=f"{ratio:g}",
            batch=batch,
            length=log.concurrency_tokens or candidate.max_model_len or "?",
        )


def name_missing(candidate: Candidate) -> Iterator[Finding]:
    """The running server answers to every name that the command gives it.

    That path or context differ is told where sources are merged.
    """
    arguments, account = candidate.arguments, candidate.account
    if arguments is None or account is None or account.cards is None:
        return
    lists = [card.id for card in account.cards]
    promised = arguments.served_names or ((arguments.model,) if arguments.model else ())
    missing = [name for name in promised if name not in lists]
    if missing:
        yield found(
            Code.NAME_MISSING,
            candidate,
            at_launch(candidate),
            names=joined(missing),
            url=account.url,
            lists=joined(lists[:5]),
        )


def version_differs(candidate: Candidate) -> Iterator[Finding]:
    """The server runs the version that its image is named after; vLLM and vllm-ascend go together.

    /version says such as `0.20.2+empty` for an image `v0.20.2rc1-310p`: the same release.
    """
    running = candidate.account.version if candidate.account else None
    image = candidate.container.image if candidate.container else ""
    told = _release(basename(image).partition(":")[2])
    seen = _release(running or "")
    if told is not None and seen is not None and told != seen:
        yield found(
            Code.OTHER_VERSION,
            candidate,
            at_container(candidate),
            running=running or "",
            image=image,
        )


def _release(text: str) -> tuple[int, ...] | None:
    match = _RELEASE.match(text)
    return tuple(int(number) for number in match.groups(default="0")) if match else None

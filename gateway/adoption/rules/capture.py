"""Rules: graphs are captured for the batches that will run."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.reading import (
    FULL_DECODE_ONLY,
    NO_GRAPHS,
    eager_option,
    is_310p,
    is_before,
    is_set,
    listed,
    promises_graphs,
    runs_graphs,
    seqs_of,
    tensor_parallel_of,
    tokens_per_request,
)
from gateway.adoption.rules.rule import at_launch, found
from gateway.config.capture import MAX_SIZES_310P_TP, default_capture_sizes

_BOUND_BY_SEQS: Final = (0, 18)
"""Before, the default list reached twice max_num_seqs (vllm-ascend, pull request 7572)."""


class _Captured(NamedTuple):
    """What is captured: `sizes` ascending, in tokens; `full` tokens of the largest decode step."""

    sizes: tuple[int, ...]
    seqs: int
    per_request: int

    @property
    def full(self) -> int:
        return self.seqs * self.per_request


def _given(candidate: Candidate) -> _Captured | None:
    sizes, seqs = candidate.capture_sizes, seqs_of(candidate)
    per_request = tokens_per_request(candidate)
    if not runs_graphs(candidate) or not sizes or seqs is None or per_request is None:
        return None
    return _Captured(tuple(sorted(set(sizes))), seqs, per_request)


def seqs_above_capture(candidate: Candidate) -> Iterator[Finding]:
    """A full batch still runs as a graph; above the largest size the whole batch is eager."""
    captured = _given(candidate)
    if captured is None or captured.full <= captured.sizes[-1]:
        return
    largest = captured.sizes[-1] // captured.per_request
    if largest == 0:  # no size holds even one request; `capture_off_step` tells
        return
    is_given = candidate.max_num_seqs is not None
    yield found(
        Code.SEQS_ABOVE_CAPTURE if is_given else Code.SEQS_NOT_GIVEN,
        candidate,
        at_launch(candidate),
        seqs=captured.seqs,
        sizes=listed(captured.sizes),
        largest=largest,
        above=largest + 1,
        better=listed(_with_full(candidate, captured)),
    )


def _with_full(candidate: Candidate, captured: _Captured) -> tuple[int, ...]:
    """The sizes and that of a full batch; on 310P with TP only two of them."""
    if _has_few_event_ids(candidate):
        return (captured.sizes[-1], captured.full)
    return (*captured.sizes, captured.full)


def capture_unreachable(candidate: Candidate) -> Iterator[Finding]:
    """No graph is captured for batches that can't be.

    Only FULL_DECODE_ONLY is bound by it: other modes use sizes for steps with prompts, too.
    """
    captured = _given(candidate)
    if captured is None or candidate.graph_mode != FULL_DECODE_ONLY:
        return
    above = [size for size in captured.sizes if size > captured.full]
    if above:
        yield found(
            Code.CAPTURE_UNREACHABLE,
            candidate,
            at_launch(candidate),
            above=listed(above),
            usable=listed(size for size in captured.sizes if size <= captured.full),
            seqs=captured.seqs,
            full=captured.full,
        )


def capture_off_step(candidate: Candidate) -> Iterator[Finding]:
    """With speculation sizes are tokens: whole requests of 1 + k tokens."""
    captured = _given(candidate)
    if captured is None or captured.per_request == 1:
        return
    off = [size for size in captured.sizes if size % captured.per_request]
    if off:
        k = captured.per_request
        yield found(
            Code.CAPTURE_OFF_STEP,
            candidate,
            at_launch(candidate),
            off=listed(off),
            tokens=k,
            speculated=k - 1,
            right=listed(sorted({-(-size // k) * k for size in captured.sizes})),
        )


def seqs_off_grid(candidate: Candidate) -> Iterator[Finding]:
    """Where the engine chooses the sizes, max_num_seqs is one of them."""
    arguments = candidate.arguments
    if arguments is None or candidate.capture_sizes or not runs_graphs(candidate):
        return
    seqs, k = candidate.max_num_seqs, tokens_per_request(candidate)
    if seqs is None or k is None or arguments.max_capture_size is not None:
        return
    sizes = default_capture_sizes(seqs * k)
    if sizes[-1] >= seqs * k or is_before(candidate, *_BOUND_BY_SEQS):
        return
    yield found(
        Code.SEQS_OFF_GRID,
        candidate,
        at_launch(candidate),
        seqs=seqs,
        sizes=listed(sizes),
        largest=sizes[-1] // k,
        above=sizes[-1] // k + 1,
    )


def capture_too_many(candidate: Candidate) -> Iterator[Finding]:
    """310P with tensor parallelism has hardware event ids for two sizes (vllm-ascend 310p.md)."""
    seqs, k = seqs_of(candidate), tokens_per_request(candidate)
    if not _has_few_event_ids(candidate) or not runs_graphs(candidate) or seqs is None:
        return
    sizes = candidate.capture_sizes or default_capture_sizes(seqs * (k or 1))
    distinct = sorted(set(sizes))
    if len(distinct) > MAX_SIZES_310P_TP:
        full = seqs * (k or 1)
        half = max((size for size in distinct if size <= full // 2), default=None)
        yield found(
            Code.CAPTURE_TOO_MANY,
            candidate,
            at_launch(candidate),
            count=len(distinct),
            sizes=_short_list(distinct),
            tp=tensor_parallel_of(candidate) or 1,
            better=listed((full,) if half is None else (half, full)),
        )


def _has_few_event_ids(candidate: Candidate) -> bool:
    return is_310p(candidate) and (tensor_parallel_of(candidate) or 1) > 1


def _short_list(sizes: list[int]) -> str:
    if len(sizes) <= 8:
        return listed(sizes)
    return f"{listed(sizes[:5])[:-1]}, ..., {sizes[-1]}]"


def capture_max_disagrees(candidate: Candidate) -> Iterator[Finding]:
    """The largest size is said once, or the same twice; vLLM does not start otherwise."""
    arguments = candidate.arguments
    if arguments is None or not arguments.capture_sizes or arguments.max_capture_size is None:
        return
    if max(arguments.capture_sizes) != arguments.max_capture_size and promises_graphs(candidate):
        yield found(
            Code.CAPTURE_MAX_DISAGREES,
            candidate,
            at_launch(candidate),
            sizes=listed(arguments.capture_sizes),
            largest=arguments.max_capture_size,
        )


def eager_beside_graph(candidate: Candidate) -> Iterator[Finding]:
    """A command says one thing: graphs, or eager."""
    arguments = candidate.arguments
    if arguments is None:
        return
    option, mode = eager_option(arguments), arguments.cudagraph_mode
    has_graphs = bool(arguments.capture_sizes) or mode is not None
    if option and has_graphs and mode != NO_GRAPHS:
        yield found(
            Code.EAGER_BESIDE_GRAPH,
            candidate,
            at_launch(candidate),
            option=option,
            graphs=mode or listed(arguments.capture_sizes or ()),
        )


def launch_blocking(candidate: Candidate) -> Iterator[Finding]:
    """ASCEND_LAUNCH_BLOCKING=1 and graphs exclude each other (vllm-ascend platform.py)."""
    if is_set(candidate, "ASCEND_LAUNCH_BLOCKING") and promises_graphs(candidate):
        yield found(Code.LAUNCH_BLOCKING, candidate, at_launch(candidate))

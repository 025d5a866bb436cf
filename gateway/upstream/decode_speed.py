"""How fast an idle server makes the tokens of one stream, measured with a short completion."""

import asyncio
from itertools import pairwise
from statistics import median
from typing import Final

import httpx

from gateway.fleet.health.evidence import Activity
from gateway.fleet.telemetry.activity import read_activity
from gateway.protocol.chunks import Protocol, StreamWatch, Verdict
from gateway.protocol.sse import EventSplitter
from gateway.upstream.asking import FAILURES, Asker

# The first token ends the prefill; 16 gaps follow.
_TOKENS: Final = 17
_LEAST_GAPS: Final = 6
_MAX_EVENT_BYTES: Final = 256 * 1024
_MAX_EVENTS: Final = 200


async def decode_speed(
    asker: Asker, served_name: str, before: Activity | None, deadline_s: float
) -> float | None:
    """Tokens a second of one stream; None where it can't be told. Never raises.

    Never asks a server that has other work, or may have: that would spoil the figure and slow the
    work. Ends at `deadline_s` (time of the loop), with the gaps that it has by then.
    """
    if before is None or not before.is_idle:
        return None
    stream = _TimedStream()
    try:
        async with asyncio.timeout_at(deadline_s):
            await stream.run(asker, served_name)
    except (TimeoutError, httpx.TimeoutException):
        # A slow engine: what has come is as good.
        return stream.tokens_per_s
    except FAILURES:
        return None
    return stream.tokens_per_s if await _was_alone(asker, before, deadline_s) else None


async def _was_alone(asker: Asker, before: Activity, deadline_s: float) -> bool:
    """Whether the engine made no tokens but ours; a look that fails says nothing against it."""
    try:
        async with asyncio.timeout_at(deadline_s):
            answer = await asker.get("metrics")
    except FAILURES:
        return True
    after = read_activity(answer.text)
    return after is None or after.generation_tokens - before.generation_tokens <= _TOKENS


class _TimedStream:
    """One streamed completion, and when its events came (time of the loop)."""

    __slots__ = ("_arrivals_s", "_is_spoilt", "_watch")

    def __init__(self) -> None:
        self._arrivals_s: list[float] = []
        self._is_spoilt = False
        self._watch = StreamWatch(Protocol.OPENAI_COMPLETIONS)

    def __repr__(self) -> str:
        return f"<_TimedStream {len(self._arrivals_s)} events>"

    @property
    def tokens_per_s(self) -> float | None:
        """From the median gap; None before enough of them, or if the stream went wrong."""
        times_s = self._arrivals_s
        gaps_s = [later - earlier for earlier, later in pairwise(times_s)]
        if self._is_spoilt or len(gaps_s) < _LEAST_GAPS:
            return None
        gap_s = median(gaps_s)
        return self._tokens_per_event / gap_s if gap_s > 0 else None

    @property
    def _tokens_per_event(self) -> float:
        """More than 1 with speculative decoding, whose steps bring several tokens."""
        usage = self._watch.usage
        tokens = usage.completion_tokens if usage else None
        return max(1.0, min(tokens or 0, _TOKENS) / len(self._arrivals_s))

    async def run(self, asker: Asker, served_name: str) -> None:
        """Asks and reads to the end; raises one of `FAILURES`."""
        body = {
            "model": served_name,
            "prompt": "1 2 3 4 5 6 7 8",
            "max_tokens": _TOKENS,
            "temperature": 0,
            "ignore_eos": True,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        loop = asyncio.get_running_loop()
        splitter = EventSplitter(_MAX_EVENT_BYTES)
        async with asker.stream("POST", "v1/completions", body) as answer:
            self._is_spoilt = answer.status_code != 200
            async for piece in answer.aiter_raw():
                for event in splitter.feed(piece):
                    self._take(event, loop.time())
                if self._is_spoilt or len(self._arrivals_s) > _MAX_EVENTS:
                    self._is_spoilt = True
                    return

    def _take(self, event: bytes, now_s: float) -> None:
        was_finished = self._watch.is_finished
        verdict = self._watch.observe(event)
        if verdict in (Verdict.ERROR, Verdict.ABORT, Verdict.MALFORMED):
            self._is_spoilt = True
        elif verdict in (Verdict.ORDINARY, Verdict.FINISH) and not was_finished:
            self._arrivals_s.append(now_s)

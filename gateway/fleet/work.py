"""What a backend does for us now: its requests and their progress, and what they teach."""

from typing import Final

from gateway.fleet.figures import Figures
from gateway.fleet.health.evidence import Activity
from gateway.fleet.learning.decode import DecodeSpeed
from gateway.fleet.learning.prefill import PrefillSpeed
from gateway.fleet.peers import NO_PEERS, PeerWork
from gateway.fleet.view import Load, Speed
from gateway.fleet.working import Working

_EVENTS_NEEDED: Final = 32
_UNSEEN_TOKENS: Final = 8
# Within so much time what is left of answers hardly changes.
_LOAD_LASTS_S: Final = 0.2
_UNSEEN_SPREAD: Final = 0.2


class Work:
    """All requests that one backend has from us, and the speeds learnt from them."""

    __slots__ = (
        "_active",
        "_area",
        "_area_at_s",
        "_load",
        "_load_at_s",
        "_load_until_s",
        "_running",
        "_speed",
        "decode",
        "figures",
        "prefill",
        "restarts_total",
        "tokens_an_event",
    )

    def __init__(
        self, decode: DecodeSpeed, kv_tokens: int | None, scrape_interval_s: float = 1.0
    ) -> None:
        self.decode = decode
        self.prefill = PrefillSpeed(decode.scale.prompts)
        self.tokens_an_event, self.restarts_total = 1.0, 0
        self._active: dict[Working, None] = {}
        self._running = 0
        self._area = self._area_at_s = 0.0
        self.figures = Figures(kv_tokens, scrape_interval_s)
        self._load: Load | None = None
        self._load_at_s = self._load_until_s = 0.0
        self._speed: tuple[tuple[int, int], Speed] | None = None

    def __repr__(self) -> str:
        return f"<Work of {len(self._active)} requests, {self.decode!r}>"

    def __len__(self) -> int:
        return len(self._active)

    def begin(self, one: Working, now: float) -> None:
        """A request is sent there."""
        self._close_window(now)
        one.sent_s = now
        one.is_alone = all(other.first_s is not None for other in self._active)
        one.area_at_begin = self._area
        self._active[one] = None
        self._running += one.sequences
        self._count(one, +1, now)
        if self.batch > self.decode.cap:
            self.decode.looked(now)

    def first_token(self, one: Working, now: float) -> None:
        """The first token of a request has come."""
        if one not in self._active or one.first_s is not None:
            return
        self._close_window(now)
        one.first_s = one.last_s = now
        one.tokens = max(1, one.tokens)
        self._load_until_s = now
        is_clean = (self.figures.peers or NO_PEERS).is_decoding
        if one.is_alone and is_clean and not self.others(now):
            step_s = self.decode.step_s(self.batch) if self.batch > one.sequences else 0.0
            self.prefill.add(one.uncached_tokens, now - one.sent_s, step_s)
            self._speed = None

    def end(self, one: Working, now: float, output_tokens: int | None = None) -> None:
        """A request has left; `output_tokens` if it was answered completely."""
        if one not in self._active:
            return
        self._close_window(now)
        self._count(one, -1, now)
        del self._active[one]
        self._running -= one.sequences
        if output_tokens is None:
            return
        one.lengths.add(output_tokens, one.limit_tokens)
        if not one.is_visible:
            self._learn_from_total(one, now, output_tokens)
        elif one.tokens >= _EVENTS_NEEDED and one.sequences == 1:
            ratio = min(16.0, max(0.5, output_tokens / one.tokens))
            self.tokens_an_event += 0.1 * (ratio - self.tokens_an_event)

    def scraped(self, activity: Activity | None, asked_s: float, answered_s: float) -> bool:
        """What the engine's own metrics say; they correct what we reckon.

        None for figures that could not be read: the old ones go stale, and our own count alone.
        Returns whether the engine began anew since the scrape before.
        """
        # Only what was there all the while: what began meanwhile may not be in the figures yet.
        own = sum(one.sequences for one in self._active if one.sent_s <= asked_s)
        news = self.figures.take(activity, asked_s, answered_s, own)
        if not news.is_new:
            return False
        self._load = None
        if news.is_restarted:
            self.restarted()
            return True
        if news.is_preempted:
            self._forget_window()
        else:
            self._close_window(answered_s)
        has_strangers = self.others(answered_s) > 0
        self.figures.reckon_excess(self._context_tokens(), has_strangers=has_strangers)
        return False

    @property
    def kv_tokens(self) -> int | None:
        """Its KV memory in tokens, None when unknown."""
        return self.figures.kv_tokens

    def take_peers(self, peers: PeerWork | None, now: float) -> None:
        """Other gateways have this there now; None: it is not known any more."""
        before, after = self.figures.peers or NO_PEERS, peers or NO_PEERS
        if before.requests != after.requests:
            # Tokens that came in a batch of another size are another lesson.
            self._close_window(now)
        self.figures.peers = peers
        self._load = None

    @property
    def batch(self) -> int:
        """Sequences of all known gateways that are there."""
        return self._running + (self.figures.peers or NO_PEERS).requests

    def restarted(self) -> None:
        """The engine was started anew: what was learnt of it says nothing now."""
        self.reshape(self.decode.anew())
        self.prefill = PrefillSpeed(self.decode.scale.prompts)
        self.figures.bias = 1.0
        self.restarts_total += 1

    def reshape(self, decode: DecodeSpeed) -> None:
        """Its steps are to be learnt anew, since other batches run on the graph."""
        self.decode = decode
        self._speed = self._load = None

    def load(self, now: float) -> Load:
        """What is there at `now`, for decisions; between two events it is reckoned now and then."""
        known = self._load
        if not self._active:
            self.decode.forgive(now)
        if known is not None and now < self._load_until_s:
            if now == self._load_at_s or not known.pending_s:
                return known
            left_s = known.pending_s - (now - self._load_at_s)
            return known._replace(pending_s=max(0.0, left_s))
        self._load = known = self._with_others(self.own_load(now), now)
        self._load_at_s, self._load_until_s = now, now + _LOAD_LASTS_S
        return known

    def _count(self, one: Working, sign: int, now: float) -> None:
        """Counts one request in or out of a load that is still good, without reckoning anew."""
        if self._load is None or now >= self._load_until_s:
            # A plan that began a moment ago would still read it.
            self._load = None
            return
        load, reading, sequences = self.load(now), self.prefill.reading, one.sequences
        is_decoding, tokens = one.first_s is not None, one.tokens
        if sign < 0 and not is_decoding and not one.is_visible:
            is_decoding, tokens = one.reckon(now, reading, self.decode.step_s(self.batch))
        done = int(tokens * self.tokens_an_event)
        left = one.lengths.left_tokens(done, one.limit_tokens) * sequences
        prompt_s = 0.0 if is_decoding else one.uncached_tokens * reading.token_s + reading.fix_s
        context = self.figures.bias * (one.prompt_tokens + done)
        self._load_at_s = now
        self._load = Load(
            load.running + sign * sequences,
            max(0, load.streaming + sign * sequences) if is_decoding else load.streaming,
            max(0.0, load.left_tokens + sign * left),
            max(0.0, load.pending_s + sign * prompt_s),
            max(0.0, load.context_tokens + sign * context),
            load.others,
            load.kv_ratio,
        )

    def own_load(self, now: float) -> Load:
        """What this gateway alone has there."""
        streaming = prompts = 0
        left = pending = context = 0.0
        oldest_s = now
        reading = self.prefill.reading
        step_s = self.decode.step_s(self.batch)
        ratio = self.tokens_an_event
        for one in self._active:
            is_decoding, tokens = one.first_s is not None, one.tokens
            if not is_decoding and not one.is_visible:
                is_decoding, tokens = one.reckon(now, reading, step_s)
            done = int(tokens * ratio) if ratio != 1.0 else tokens
            context += one.prompt_tokens + done
            left_tokens = one.left_tokens(done, is_decoding, now, step_s)
            left += left_tokens * one.sequences
            if is_decoding:
                streaming += one.sequences
                continue
            pending += one.uncached_tokens
            prompts += 1
            if one.sent_s < oldest_s:
                oldest_s = one.sent_s
        if prompts:
            pending = pending * reading.token_s + prompts * reading.fix_s - (now - oldest_s)
        return Load(self._running, streaming, left, max(0.0, pending), context * self.figures.bias)

    def _with_others(self, own: Load, now: float) -> Load:
        """With what others have there, and what the engine says of itself."""
        figures, peers = self.figures, self.figures.peers or NO_PEERS
        others, kv_ratio, context = 0, None, own.context_tokens + peers.context_tokens
        gauges = figures.at(now)
        if gauges is not None:
            context += figures.excess_tokens
            others = self._counted_others(now)
            kv_ratio = gauges.kv_pressure_ratio
        return Load(
            self.batch + others,
            own.streaming + peers.streaming,
            own.left_tokens + peers.left_tokens,
            own.pending_s + peers.pending_s,
            context,
            others,
            kv_ratio,
        )

    def speed(self) -> Speed:
        """What was learnt, for decisions."""
        decode = self.decode
        known, version = self._speed, (decode.version, self.prefill.version)
        if known is not None and known[0] == version and known[1].kv_tokens == self.kv_tokens:
            return known[1]
        reading = self.prefill.reading
        # Nothing was read there yet: it is thought to be as much slower as its decoding is.
        ratio = 1.0 if self.prefill.is_seen else decode.scale_ratio
        prompt = ratio * reading.token_s, ratio * reading.fix_s
        speed = Speed(decode.steps, decode.cap, *prompt, self.kv_tokens)
        self._speed = (version, speed)
        return speed

    def others(self, now: float) -> int:
        """Requests at the engine that no known gateway has sent, as far as its metrics tell."""
        return self.figures.strangers(now, self.decode.limit)

    def _counted_others(self, now: float) -> int:
        """With nothing of our own there, one may always try: figures can lie for ever."""
        others = self.others(now)
        return others if self.batch else min(others, max(0, self.decode.cap - 1))

    def _context_tokens(self) -> float:
        return sum(one.prompt_tokens + one.tokens * self.tokens_an_event for one in self._active)

    def _close_window(self, now: float) -> None:
        """Learns from the tokens since the last change of the batch, if all were decoding."""
        self._area += self.batch * (now - self._area_at_s)
        self._area_at_s = now
        active, figures = self._active, self.figures
        is_clean = not figures.is_shared and (figures.peers or NO_PEERS).is_decoding
        if active and is_clean and all(one.is_decoding for one in active):
            spans = [one.window() for one in active]
            rates = sorted(
                one.sequences * span_s / tokens
                for one, (span_s, tokens) in zip(active, spans, strict=True)
                if tokens > 0
            )
            if rates:
                tokens = max(tokens for _, tokens in spans)
                step_s = rates[len(rates) // 2] / self.tokens_an_event
                self.decode.add(self.batch, step_s, tokens, now)
        self._forget_window()

    def _learn_from_total(self, one: Working, now: float, output_tokens: int) -> None:
        """What an answer that came whole tells: its time a token, if the batch hardly changed."""
        total_s = now - one.sent_s
        if output_tokens < _UNSEEN_TOKENS or self.others(now) or total_s <= 0:
            return
        mean = (self._area - one.area_at_begin) / total_s
        size = round(mean)
        reading = self.prefill.reading
        decoding_s = total_s - reading.fix_s - one.uncached_tokens * reading.token_s
        if abs(mean - size) < _UNSEEN_SPREAD and decoding_s > 0.5 * total_s:
            self.decode.add(size, decoding_s / output_tokens, output_tokens / 2, now)

    def _forget_window(self) -> None:
        for one in self._active:
            one.begin_window()

"""One start of an engine, read from its lines."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gateway.adoption.engine.log_fields import number_in, word_in, words_in
from gateway.adoption.engine.log_graphs import FAILURE_MARKS, GraphTrace
from gateway.adoption.engine.log_lines import Line
from gateway.adoption.engine.log_pace import STATS_MARK, Pace
from gateway.adoption.findings import Origin
from gateway.adoption.sources import EngineLog

ACCESS_MARK: Final = 'HTTP/1.1" '
"""Stands in the line that is written for a request; there are many of them."""

_READY_MARK: Final = "Application startup complete"
_LAST_PORT: Final = 65_535
_STOP_MARKS: Final = (
    "EngineCore encountered",
    "EngineCore failed to start",
    "Engine core initialization failed",
    "died unexpectedly",
    "EngineDeadError",
    "Application shutdown complete",
    "Finished server process",
)
_VERSION: Final = re.compile(r"server version (?P<version>[^\s,]{1,64})")
_SERVING: Final = re.compile(r"serving model (?P<model>\S.*)")
_LOGO: Final = re.compile(r"[▀▄█]\s{1,8}(?P<name>version|model)\s{1,8}(?P<value>\S.*)")
_ENGINE: Final = re.compile(r"LLM engine \(v?(?P<version>[^)\s]{1,64})\)")
_KV: Final = re.compile(r"KV cache size: (?P<tokens>\d[\d,]{0,19}) tokens")
_CONCURRENCY: Final = re.compile(
    r"Maximum concurrency for (?P<tokens>\d[\d,]{0,19}) tokens per request: "
    r"(?P<ratio>\d{1,9}(?:\.\d{1,6})?)x"
)
_BLOCK: Final = re.compile(r"attention block size to (?P<tokens>\d{1,7}) tokens")
_LENGTH: Final = re.compile(r"Using max model len (?P<tokens>\d{1,12})\b")
_FITTED: Final = re.compile(r"max_model_len: reduced from \d{1,12} to (?P<tokens>\d{1,12})\b")
_CHUNK: Final = re.compile(r"max_num_batched_tokens=(?P<tokens>\d{1,12})\b")
_ADDRESS: Final = re.compile(r" on https?://\S{0,255}?:(?P<port>\d{1,5})(?!\S*:\d)")


class Start:
    """What the lines of a start say; `take` gets them in order, `log` is the sum."""

    __slots__ = ("_failure", "_graphs", "_log", "_pace", "stop")

    def __init__(self, origin: Origin) -> None:
        self._log = EngineLog(origin)
        self._graphs = GraphTrace()
        self._pace = Pace()
        self._failure: Line | None = None
        self.stop: Line | None = None

    def __repr__(self) -> str:
        return f"Start({self._log.origin}, ready={self.is_ready}, {self._graphs!r})"

    @property
    def origin(self) -> Origin:
        """Where it begins."""
        return self._log.origin

    @property
    def is_ready(self) -> bool:
        """Whether start-up was completed."""
        return self._log.is_ready

    @property
    def capture_failure(self) -> Line | None:
        """The line with which capturing died; an engine that came up has survived it."""
        return None if self.is_ready else self._failure

    @property
    def narrowed(self) -> tuple[str, str] | None:
        """The graph mode that was wanted and the one that was taken instead."""
        return self._graphs.narrowed

    @property
    def thinned(self) -> tuple[str, str] | None:
        """How many capture sizes were wanted and how many were left."""
        return self._graphs.thinned

    @property
    def log(self) -> EngineLog:
        """Everything that was read."""
        graphs, pace = self._graphs, self._pace
        return replace(
            self._log,
            is_eager=graphs.is_eager,
            graph_mode=graphs.mode,
            capture_sizes=graphs.sizes,
            capture_count=graphs.captured,
            truncated_to=graphs.truncated_to,
            decode_tokens_per_s=pace.decode_tokens_per_s,
            prefix_hit_ratio=pace.prefix_hit_ratio,
            has_capture_failed=self.capture_failure is not None,
            has_stopped=self.stop is not None,
        )

    def take(self, line: Line) -> None:
        """Look at one line."""
        text = line.text
        if ACCESS_MARK in text or STATS_MARK in text:
            self._pace.take(text)
            self._ready(text)
            return
        for part, read in _READERS:
            if part in text:
                read(self, text)
        self._graphs.take(text)
        if self._failure is None and _has_any(text, FAILURE_MARKS):
            self._failure = line
        if self.stop is None and _has_any(text, _STOP_MARKS):
            self.stop = line

    def _ready(self, text: str) -> None:
        if not self._log.is_ready:
            self._log = replace(self._log, is_ready=True)

    def _version(self, text: str) -> None:
        version, model = _VERSION.search(text), _SERVING.search(text)
        if version:
            self._log = replace(self._log, version=version["version"])
        if model:
            self._log = replace(self._log, model=model["model"].strip())

    def _logo(self, text: str) -> None:
        match = _LOGO.search(text)
        if match and match["name"] == "version":
            self._log = replace(self._log, version=match["value"].strip())
        elif match:
            self._log = replace(self._log, model=match["value"].strip())

    def _arguments(self, text: str) -> None:
        self._graphs.take_configuration(text)
        log, port = self._log, number_in(text, "port")
        self._log = replace(
            log,
            model=word_in(text, "model_tag") or word_in(text, "model") or log.model,
            served_names=words_in(text, "served_model_name") or log.served_names,
            port=port if port and port <= _LAST_PORT else log.port,
            tensor_parallel=number_in(text, "tensor_parallel_size") or log.tensor_parallel,
            max_num_seqs=number_in(text, "max_num_seqs") or log.max_num_seqs,
            max_model_len=number_in(text, "max_model_len") or log.max_model_len,
            max_num_batched_tokens=number_in(text, "max_num_batched_tokens")
            or log.max_num_batched_tokens,
        )

    def _configuration(self, text: str) -> None:
        self._graphs.take_configuration(text)
        log = self._log
        version = _ENGINE.search(text)
        self._log = replace(
            log,
            version=version["version"] if version else log.version,
            model=word_in(text, "model") or log.model,
            # Only the first of the names is printed here.
            served_names=log.served_names or words_in(text, "served_model_name"),
            tensor_parallel=number_in(text, "tensor_parallel_size") or log.tensor_parallel,
            max_model_len=number_in(text, "max_seq_len") or log.max_model_len,
        )

    def _length(self, text: str) -> None:
        match = _LENGTH.search(text)
        if match and self._log.max_model_len is None:  # a later one is that of a draft model
            self._log = replace(self._log, max_model_len=int(match["tokens"]))

    def _fitted(self, text: str) -> None:
        match = _FITTED.search(text)
        if match:
            self._log = replace(self._log, max_model_len=int(match["tokens"]))

    def _chunk(self, text: str) -> None:
        match = _CHUNK.search(text)
        if match:
            self._log = replace(self._log, max_num_batched_tokens=int(match["tokens"]))

    def _kv(self, text: str) -> None:
        match = _KV.search(text)
        if match:
            # Every rank and stage tells its own; the smallest is what requests can count on.
            tokens = _whole(match["tokens"])
            held = self._log.kv_tokens
            self._log = replace(self._log, kv_tokens=tokens if held is None else min(held, tokens))

    def _concurrency(self, text: str) -> None:
        match = _CONCURRENCY.search(text)
        if match:
            ratio, held = float(match["ratio"]), self._log.concurrency_ratio
            if held is None or ratio < held:
                tokens = _whole(match["tokens"])
                self._log = replace(self._log, concurrency_ratio=ratio, concurrency_tokens=tokens)

    def _block(self, text: str) -> None:
        match = _BLOCK.search(text)
        if match:
            self._log = replace(self._log, attention_block_tokens=int(match["tokens"]))

    def _address(self, text: str) -> None:
        match = _ADDRESS.search(text)
        if match and int(match["port"]) <= _LAST_PORT:
            self._log = replace(self._log, port=int(match["port"]))


def _has_any(text: str, parts: tuple[str, ...]) -> bool:
    return any(part in text for part in parts)


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


_READERS: Final[tuple[tuple[str, Callable[[Start, str], None]], ...]] = (
    (_READY_MARK, Start._ready),
    ("server version", Start._version),
    ("█", Start._logo),
    ("▀", Start._logo),
    ("non-default args", Start._arguments),
    ("args: Namespace(", Start._arguments),
    ("LLM engine (v", Start._configuration),
    ("Using max model len", Start._length),
    ("Auto-fit max_model_len", Start._fitted),
    ("Chunked prefill is enabled with", Start._chunk),
    ("KV cache size:", Start._kv),
    ("Maximum concurrency for", Start._concurrency),
    ("attention block size to", Start._block),
    ("Starting vLLM", Start._address),
    ("Uvicorn running on", Start._address),
)

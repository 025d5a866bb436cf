"""What the lines of one start show of graphs: wanted, narrowed, captured, failed, or eager."""

import re
from collections.abc import Callable
from typing import Final

from gateway.adoption.engine.graphs import GRAPH_MODES
from gateway.adoption.engine.log_fields import graph_mode_in, sizes_in, sorted_sizes, truth_in

_NONE: Final = "NONE"
_ENABLED: Final = re.compile(r"(?P<mode>\w+) (?:compilation enabled|is enable) on NPU")
_NARROWED: Final = re.compile(r"CUDAGraphMode\.(?P<wanted>\w+) is not supported")
_SETTING: Final = re.compile(r"setting cudagraph_mode=(?P<mode>[A-Z_]+)")
_TRUNCATED: Final = re.compile(r"max_cudagraph_capture_size to (?P<size>\d{1,9})\b")
_THINNED: Final = re.compile(
    r"Adjusted ACL graph batch sizes .{0,200}: (?P<before>\d{1,6})\D{1,12}(?P<after>\d{1,6}) sizes"
)
_OVERRIDDEN: Final = re.compile(r"is overridden by config \[(?P<sizes>[\d,\s]*)\]")
_CASES: Final = re.compile(r"graphs for cases: \[(?P<sizes>[\d,\s]*)\]")
_CAPTURED: Final = re.compile(
    r"Capturing (?P<what>[\w ]{0,40}graph(?:s| shapes)(?: \([^)]{1,80}\))?):\s*100%\|[^|]*\|\s*"
    r"(?P<done>\d{1,6})/(?P<all>\d{1,6})"
)
_EAGER_MARKS: Final = (
    "using eager mode by default",
    "Enforce eager set",
    "Skipping NPU graph capture",
    "Skipping ACL graph capture",
    "cudagraph_mode is not support on NPU",
    "etting CUDAGraphMode to NONE",
)
FAILURE_MARKS: Final = (
    "ACL graph capture failed",
    "aclrtAllocatorGetByStream failed",
    "does not support graph capture",
    "Not allow to synchronize captured-stream",
    "invalidated the stream capture sequence",
    "Insufficient_Stream_Resources",
    "Create capture stream failed",
    "NPUModelRunner init failed",
)
"""Parts of the messages with which a capture dies, from vllm-ascend issues and acl_graph.py."""


class GraphTrace:
    """Evidence about graphs, gathered line by line."""

    __slots__ = (
        "_captured",
        "_is_enforced",
        "_is_marked_eager",
        "_is_torchair",
        "_mode",
        "narrowed",
        "sizes",
        "thinned",
        "truncated_to",
    )

    def __init__(self) -> None:
        self.sizes: tuple[int, ...] | None = None
        self.truncated_to: int | None = None
        self.narrowed: tuple[str, str] | None = None
        self.thinned: tuple[str, str] | None = None
        self._mode: str | None = None
        self._captured: dict[str, int] = {}
        self._is_enforced: bool | None = None
        self._is_marked_eager = False
        self._is_torchair = False

    def __repr__(self) -> str:
        return f"GraphTrace(mode={self.mode}, sizes={self.sizes}, eager={self.is_eager})"

    @property
    def captured(self) -> int | None:
        """How many graphs were captured; None where no capture was seen to end."""
        return sum(self._captured.values()) or None

    @property
    def is_eager(self) -> bool | None:
        """Whether every step runs eager; None where the lines do not show it."""
        if self._is_torchair or self._captured:
            return False
        if self._is_marked_eager or self._is_enforced or self._mode == _NONE:
            return True
        if self._mode is not None or (self._is_enforced is False and self.sizes):
            return False
        return None

    @property
    def mode(self) -> str | None:
        """The mode that was taken in the end; None where it is eager all the same."""
        return None if self.is_eager and self._mode != _NONE else self._mode

    def take(self, text: str) -> None:
        """Look at one line."""
        for part, read in _READERS:
            if part in text:
                read(self, text)
        if any(mark in text for mark in _EAGER_MARKS) and "Torchair" not in text:
            self._is_marked_eager = True

    def take_configuration(self, text: str) -> None:
        """Look at printed arguments or at the printed configuration."""
        enforced = truth_in(text, "enforce_eager")
        sizes = sizes_in(text, "cudagraph_capture_sizes")
        self._is_enforced = self._is_enforced if enforced is None else enforced
        self.sizes = self.sizes if sizes is None else sizes
        self._mode = graph_mode_in(text) or self._mode

    def _enabled(self, text: str) -> None:
        match = _ENABLED.search(text)
        if match and match["mode"] == "Torchair":
            self._is_torchair = True
        elif match and match["mode"] in GRAPH_MODES:
            self._mode = match["mode"]

    def _set_mode(self, text: str) -> None:
        mode, wanted = _SETTING.search(text), _NARROWED.search(text)
        if mode and mode["mode"] in GRAPH_MODES:
            self._mode = mode["mode"]
            if wanted:
                self.narrowed = (wanted["wanted"], mode["mode"])

    def _truncated(self, text: str) -> None:
        match = _TRUNCATED.search(text)
        if match:
            self.truncated_to = int(match["size"])

    def _adjusted(self, text: str) -> None:
        match = _THINNED.search(text)
        if match:
            self.thinned = (match["before"], match["after"])

    def _overridden(self, text: str) -> None:
        match = _OVERRIDDEN.search(text)
        if match:
            self.sizes = sorted_sizes(match["sizes"])

    def _started(self, text: str) -> None:
        match = _CASES.search(text)
        if match and (self.sizes is None or "uniform_decode: True" in text):
            self.sizes = sorted_sizes(match["sizes"])

    def _capturing(self, text: str) -> None:
        match = _CAPTURED.search(text)
        if match and match["done"] == match["all"]:
            self._captured[match["what"]] = int(match["all"])


_READERS: Final[tuple[tuple[str, Callable[[GraphTrace, str], None]], ...]] = (
    (" on NPU", GraphTrace._enabled),
    ("setting cudagraph_mode=", GraphTrace._set_mode),
    ("max_cudagraph_capture_size to", GraphTrace._truncated),
    ("Adjusted ACL graph batch sizes", GraphTrace._adjusted),
    ("is overridden by config", GraphTrace._overridden),
    ("graphs for cases: [", GraphTrace._started),
    ("Capturing ", GraphTrace._capturing),
)

"""One slot at one backend: taken by entering, given back exactly once by leaving."""

from types import TracebackType

from gateway.fleet.live import LiveBackend


class Lease:
    """A context manager that counts one request in flight at a backend.

    Leaving it gives the slot back on every path: return, exception, cancellation. It can't be
    entered twice.
    """

    __slots__ = ("_state", "backend", "prompt_bytes")

    def __init__(self, backend: LiveBackend, prompt_bytes: int = 0) -> None:
        self.backend = backend
        self.prompt_bytes = prompt_bytes
        self._state = "new"

    def __repr__(self) -> str:
        return f"<Lease {self.backend.config.name} {self._state}>"

    def __enter__(self) -> "Lease":
        if self._state != "new":
            raise RuntimeError(f"{self!r} can't be taken again")
        self._state = "held"
        self.backend.in_flight += 1
        self.backend.prompt_bytes[id(self)] = self.prompt_bytes
        self.backend.arrivals_total += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._state == "held":
            self._state = "returned"
            self.backend.in_flight -= 1
            self.backend.prompt_bytes.pop(id(self), None)

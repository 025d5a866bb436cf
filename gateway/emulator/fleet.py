"""A fleet of emulated backends in one event loop."""

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from gateway.emulator.server import EmulatedBackend
from gateway.emulator.spec import BackendSpec


class EmulatedFleet:
    """Starts its backends when entered and closes them when left."""

    def __init__(self, specs: Iterable[BackendSpec]) -> None:
        self.backends: Sequence[EmulatedBackend] = [EmulatedBackend(spec) for spec in specs]

    def __repr__(self) -> str:
        return f"<EmulatedFleet {list(self.backends)!r}>"

    def __getitem__(self, name: str) -> EmulatedBackend:
        """The backend of that name; KeyError names the ones there are."""
        for backend in self.backends:
            if backend.spec.name == name:
                return backend
        names = [backend.spec.name for backend in self.backends]
        raise KeyError(f"there is no backend {name!r}; there are {names}")

    async def __aenter__(self) -> Self:
        for backend in self.backends:
            await backend.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for backend in self.backends:
            await backend.stop()

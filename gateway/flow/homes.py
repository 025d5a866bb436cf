"""Where each conversation was last, for those that say which one they belong to."""

from collections import OrderedDict
from typing import Final

_MOST: Final = 65536


class Homes:
    """Backends by conversation, the longest unused forgotten first."""

    __slots__ = ("_homes",)

    def __init__(self) -> None:
        self._homes: OrderedDict[str, str] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Homes of {len(self._homes)} conversations>"

    def of(self, conversation: str) -> str:
        """The backend that has it, "" if none is known."""
        return self._homes.get(conversation, "") if conversation else ""

    def note(self, conversation: str, backend: str) -> None:
        """It was sent to this backend."""
        if not conversation:
            return
        self._homes[conversation] = backend
        self._homes.move_to_end(conversation)
        if len(self._homes) > _MOST:
            self._homes.popitem(last=False)

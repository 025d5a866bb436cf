"""What has no value where a script needs one."""

from collections.abc import Iterable
from typing import NamedTuple


class Missing(NamedTuple):
    """A variable without a value, or a `$(...)` whose output is not known.

    With `is_unseen` there is a value when the script runs, such as that of `$(hostname)`; without,
    the script has none unless somebody gives it.
    """

    name: str
    is_unseen: bool = False

    @property
    def is_output(self) -> bool:
        """Whether it is the output of a command, as against a variable."""
        return self.name.startswith(("$(", "`"))


def assigned_to(name: str, missing: Iterable[Missing]) -> tuple[Missing, ...]:
    """What is missing in a variable's value: in place of an output it is the variable itself."""
    return tuple(
        dict.fromkeys(Missing(name, is_unseen=True) if m.is_output else m for m in missing)
    )


def names_of(missing: Iterable[Missing]) -> tuple[str, ...]:
    """The names, each one once."""
    return tuple(dict.fromkeys(m.name for m in missing))

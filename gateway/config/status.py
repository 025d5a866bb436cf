"""Which routing file is in force, and what is wrong with the one on disk if that is another."""

from dataclasses import dataclass

from gateway.config.problems import Problem


@dataclass(frozen=True, slots=True)
class ConfigStatus:
    """Which routing file is in force, since when (seconds since 1970) and by whom.

    `refused` are the errors of the file as it is on disk, if that is not what is in force.
    """

    version: str
    by: str
    loaded_at_s: float
    refused: tuple[Problem, ...] = ()
    refused_by: str = ""
    refused_at_s: float | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the file on disk is not the one in force, since it can't be used."""
        return bool(self.refused)

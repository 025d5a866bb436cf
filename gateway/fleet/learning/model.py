"""What is learnt of one model, whoever serves it."""

from gateway.fleet.learning.characters import TokensPerByte
from gateway.fleet.learning.lengths import OutputLengths


class ModelLessons:
    """How long its answers are, and how many tokens it makes of text."""

    __slots__ = ("lengths", "text")

    def __init__(self) -> None:
        self.lengths = OutputLengths()
        self.text = TokensPerByte()

    def __repr__(self) -> str:
        return f"<ModelLessons {self.lengths!r} {self.text!r}>"

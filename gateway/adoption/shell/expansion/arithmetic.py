"""Shell arithmetic: `$((8000 + RANK * 10))`, in 64 bits as bash has it."""

import re
from collections.abc import Callable, Mapping
from typing import Final, Protocol

_MAX_DEPTH: Final = 8
_MAX_DIGITS: Final = 20
_MAX_TOKENS: Final = 2000
_MAX_SHIFT: Final = 63
_WORD: Final = 1 << 64

_TOKEN: Final = re.compile(
    r"[ \t\r\n]*+(?:(0[xX][0-9A-Fa-f]+|[0-9]+#[0-9A-Za-z@_]+|[0-9]+)"
    r"|([A-Za-z_][A-Za-z_0-9]*)"
    r"|(\*\*|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>=!~&|^?:(),])|\Z)"
)
_BASE: Final = re.compile(r"([0-9]{1,2})#([0-9A-Za-z@_]+)")

# From what binds loosest to what binds tightest, of those that take two values.
_LEVELS: Final[tuple[tuple[str, ...], ...]] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_ASSIGNMENTS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})


class CalculationError(ValueError):
    """The expression has no value."""


class Names(Protocol):
    """The variables that an expression reads and sets."""

    def number_text(self, name: str) -> str:
        """The value of a variable, "" if it has none."""

    def assign_number(self, name: str, value: int) -> None:
        """Sets a variable."""


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise CalculationError("division by zero")
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


_OPERATIONS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "||": lambda a, b: int(bool(a or b)),
    "&&": lambda a, b: int(bool(a and b)),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << (b & _MAX_SHIFT),
    ">>": lambda a, b: a >> (b & _MAX_SHIFT),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
}


def calculate(expression: str, names: Names, depth: int = 0) -> int:
    """The value of an expression; 0 of an empty one.

    Raises CalculationError for what is none, and for what takes too long. Parts that bash would
    skip, as behind `||`, are calculated too; a division by zero there is an error here.
    """
    if depth > _MAX_DEPTH:
        raise CalculationError("variables that refer to each other")
    calculation = _Calculation(expression, names, depth)
    return calculation.whole()


class _Calculation:
    def __init__(self, expression: str, names: Names, depth: int) -> None:
        self._tokens = _tokens_of(expression)
        self._index = 0
        self._names = names
        self._depth = depth

    def __repr__(self) -> str:
        return f"_Calculation({self._tokens[self._index :]})"

    def whole(self) -> int:
        if not self._tokens:
            return 0
        value = self._comma(self._depth)
        if self._index < len(self._tokens):
            raise CalculationError(f"unexpected {self._peek()}")
        return value

    def _peek(self, ahead: int = 0) -> str:
        index = self._index + ahead
        return self._tokens[index] if index < len(self._tokens) else ""

    def _take(self, *texts: str) -> str:
        token = self._peek()
        if token and token in texts:
            self._index += 1
            return token
        return ""

    def _comma(self, depth: int) -> int:
        value = self._assignment(depth)
        while self._take(","):
            value = self._assignment(depth)
        return value

    def _assignment(self, depth: int) -> int:
        if depth > _MAX_DEPTH:
            raise CalculationError("nested too deeply")
        name, operator = self._peek(), self._peek(1)
        if not _is_name(name) or operator not in _ASSIGNMENTS:
            return self._choice(depth)
        self._index += 2
        value = self._assignment(depth + 1)
        if operator != "=":
            value = _wrapped(_OPERATIONS[operator[:-1]](self._value_of(name), value))
        self._names.assign_number(name, value)
        return value

    def _choice(self, depth: int) -> int:
        value = self._binary(0, depth)
        if not self._take("?"):
            return value
        yes = self._assignment(depth + 1)
        if not self._take(":"):
            raise CalculationError("? without :")
        no = self._assignment(depth + 1)
        return yes if value else no

    def _binary(self, level: int, depth: int) -> int:
        """Operators of `_LEVELS[level:]`, each binding looser than those behind it."""
        value = self._power(depth)
        return self._climb(value, level, depth)

    def _climb(self, value: int, level: int, depth: int) -> int:
        while True:
            operator = self._peek()
            own = next((i for i in range(level, len(_LEVELS)) if operator in _LEVELS[i]), None)
            if own is None:
                return value
            self._index += 1
            right = self._binary(own + 1, depth)
            value = _wrapped(_OPERATIONS[operator](value, right))

    def _power(self, depth: int) -> int:
        base = self._unary(depth)
        if not self._take("**"):
            return base
        exponent = self._power(depth + 1) if depth < _MAX_DEPTH else -1
        if exponent < 0:
            raise CalculationError("negative exponent")
        return _wrapped(pow(base, exponent, _WORD))

    def _unary(self, depth: int) -> int:
        if depth > _MAX_DEPTH:
            raise CalculationError("nested too deeply")
        if sign := self._take("++", "--"):
            return self._stepped(1 if sign == "++" else -1, depth)
        sign = self._take("+", "-", "!", "~")
        if not sign:
            return self._primary(depth)
        value = self._unary(depth + 1)
        return {"+": value, "-": -value, "!": int(not value), "~": ~value}[sign]

    def _stepped(self, step: int, depth: int) -> int:
        name = self._peek()
        if not _is_name(name):
            # Two signs, as in `- -1`.
            return self._unary(depth + 1)
        self._index += 1
        value = _wrapped(self._value_of(name) + step)
        self._names.assign_number(name, value)
        return value

    def _primary(self, depth: int) -> int:
        token = self._peek()
        self._index += 1
        if token == "(":
            value = self._comma(depth + 1)
            if not self._take(")"):
                raise CalculationError("missing )")
            return value
        if not _is_name(token):
            return _number(token)
        value = self._value_of(token)
        if sign := self._take("++", "--"):
            self._names.assign_number(token, _wrapped(value + (1 if sign == "++" else -1)))
        return value

    def _value_of(self, name: str) -> int:
        return calculate(self._names.number_text(name), self._names, self._depth + 1)


def _tokens_of(expression: str) -> list[str]:
    tokens: list[str] = []
    pos = 0
    while pos < len(expression):
        found = _TOKEN.match(expression, pos)
        if found is None or len(tokens) > _MAX_TOKENS:
            raise CalculationError(f"can't be read: {expression[pos : pos + 20]}")
        token = found[1] or found[2] or found[3]
        if token:
            tokens.append(token)
        pos = found.end()
    return tokens


def _is_name(token: str) -> bool:
    return token[:1].isalpha() or token[:1] == "_"


def _number(token: str) -> int:
    if len(token) > _MAX_DIGITS or not token[:1].isdigit():
        raise CalculationError(f"not a number: {token or 'end'}")
    if found := _BASE.fullmatch(token):
        # Above base 36 bash tells upper case from lower case; nobody writes ports so.
        base = int(found[1])
        digits = found[2]
    else:
        base = 16 if token[:2] in {"0x", "0X"} else 8 if token[0] == "0" else 10
        digits = token
    try:
        return _wrapped(int(digits, base))
    except ValueError as error:
        raise CalculationError(f"not a number: {token}") from error


def _wrapped(value: int) -> int:
    return (value + _WORD // 2) % _WORD - _WORD // 2

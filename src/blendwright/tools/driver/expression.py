"""The expressions of drivers: a small language of numbers, names and functions, read by a parser of its own.

What is read is written anew in the form that Blender computes by itself. No text of a user is ever taken for Python."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Function -> least and greatest number of arguments. All of them are known to Blender's own evaluation.
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("abs", "sin", "cos", "tan", "sqrt", "floor", "ceil", "radians", "degrees"), (1, 1)),
    "min": (2, 8),
    "max": (2, 8),
    "pow": (2, 2),
    "clamp": (3, 3),
    "lerp": (3, 3),
    "smoothstep": (3, 3),
}
# Names that need no variable.
KNOWN = ("pi", "frame")
DEEPEST = 40
TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|[-+*/(),]))",
    re.ASCII,
)
LEADING_ZEROS = re.compile(r"^0+(?=\d)")
# How tightly what was written binds.
SUM, PRODUCT, SIGN, WHOLE = range(4)
Written = tuple[str, int]


class ExpressionError(ValueError):
    """What is wrong with an expression; `column` counts from 1."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(f"column {column}: {message}")


def written_for_blender(text: str, variables: Mapping[str, str]) -> str:
    """An expression as Blender is to compute it. `variables` says what stands for each name."""
    parser = _Parser(text, variables)
    written, _ = parser.sum()
    parser.expect_end()
    return written


def names_in(text: str) -> set[str]:
    """The names in an expression that are no functions, also where it is not correct."""
    found = {match["name"] for match in TOKEN.finditer(text) if match["name"]}
    return found - FUNCTIONS.keys() - set(KNOWN)


class _Parser:
    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._variables = variables
        self._depth = 0

    def sum(self) -> Written:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExpressionError(f"more than {DEEPEST} levels of parentheses", self._column())
        left = self._product()
        while (sign := self._take("+", "-")) is not None:
            left = f"{_in(left, SUM)} {sign} {_in(self._product(), PRODUCT)}", SUM
        self._depth -= 1
        return left

    def expect_end(self) -> None:
        if self._at < len(self._tokens):
            raise ExpressionError(f"'{self._tokens[self._at][0]}' is not expected here", self._column())

    def _product(self) -> Written:
        left = self._signed()
        while (sign := self._take("*", "/")) is not None:
            left = f"{_in(left, PRODUCT)} {sign} {_in(self._signed(), SIGN)}", PRODUCT
        return left

    def _signed(self) -> Written:
        minus = False
        while (sign := self._take("-", "+")) is not None:
            minus ^= sign == "-"
        power = self._power()
        if minus:
            return (f"-{_in(power, WHOLE)}", SIGN)
        return power

    def _power(self) -> Written:
        base = self._atom()
        if self._take("**") is None:
            return base
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExpressionError(f"more than {DEEPEST} levels of powers", self._column())
        exponent = self._signed()
        self._depth -= 1
        # Blender leaves ** to Python, but computes this.
        return f"pow({base[0]}, {exponent[0]})", WHOLE

    def _atom(self) -> Written:
        if self._at >= len(self._tokens):
            raise ExpressionError("a number, a name or '(' is missing", self._column())
        token, kind, column = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            # Blender leaves 08 to Python, which refuses it.
            return LEADING_ZEROS.sub("", token), WHOLE
        if kind == "name":
            if token in FUNCTIONS:
                return self._function(token, column)
            return (self._name(token, column), WHOLE)
        if token != "(":
            raise ExpressionError(f"'{token}' is not expected here", column)
        inner = self.sum()
        self._close(column)
        return inner

    def _name(self, name: str, column: int) -> str:
        if name in KNOWN:
            return name
        if name not in self._variables:
            allowed = ", ".join([*sorted(self._variables), *KNOWN, *FUNCTIONS])
            raise ExpressionError(f"'{name}' is neither a variable nor a function; there are {allowed}", column)
        return self._variables[name]

    def _function(self, name: str, column: int) -> Written:
        if self._take("(") is None:
            raise ExpressionError(f"{name} is a function: '(' is missing", self._column())
        arguments = [self.sum()[0]]
        while self._take(",") is not None:
            arguments.append(self.sum()[0])
        self._close(column)
        least, most = FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            if least == most:
                number = str(least)
            else:
                number = f"{least} to {most}"
            raise ExpressionError(f"{name} takes {number} arguments, not {len(arguments)}", column)
        return f"{name}({', '.join(arguments)})", WHOLE

    def _close(self, opened: int) -> None:
        if self._take(")") is None:
            raise ExpressionError(f"')' is missing for what begins at column {opened}", self._column())

    def _take(self, *signs: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at][0] in signs:
            self._at += 1
            return self._tokens[self._at - 1][0]
        return None

    def _column(self) -> int:
        if self._at < len(self._tokens):
            return self._tokens[self._at][2]
        if self._tokens:
            return self._tokens[-1][2] + len(self._tokens[-1][0])
        return 1


def _in(part: Written, least: int) -> str:
    """A part, in parentheses where it binds less than its place demands."""
    if part[1] >= least:
        return part[0]
    return f"({part[0]})"


def _tokens(text: str) -> list[tuple[str, str, int]]:
    """Each token with its kind and its column."""
    tokens: list[tuple[str, str, int]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = TOKEN.match(text, at)
        if match is None:
            column = at + len(text[at:]) - len(text[at:].lstrip())
            raise ExpressionError(f"'{text[column]}' does not belong to the language", column + 1)
        kind = match.lastgroup or ""
        tokens.append((match[kind], kind, match.start(kind) + 1))
        at = match.end()
    return tokens

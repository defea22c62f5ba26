"""Expressions of drivers: a small language of numbers, names and functions, with a hand-written parser.

The parser writes each expression in a form that Blender evaluates without Python. User text is never run as Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Function -> minimum and maximum number of arguments. Blender evaluates all of them without Python.
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("abs", "sin", "cos", "tan", "sqrt", "floor", "ceil", "radians", "degrees"), (1, 1)),
    "min": (2, 8),
    "max": (2, 8),
    "pow": (2, 2),
    "clamp": (3, 3),
    "lerp": (3, 3),
    "smoothstep": (3, 3),
}
# Names that are defined without a variable.
KNOWN = ("pi", "frame")
# Largest nesting depth of parentheses or powers.
MAX_DEPTH = 40
TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\*\*|[-+*/(),]))",
    re.ASCII,
)
LEADING_ZEROS = re.compile(r"^0+(?=\d)")
# Binding strengths of operators, weakest first.
SUM, PRODUCT, SIGN, ATOM = range(4)
# Text of a part of an expression, and the binding strength of its operator.
Written = tuple[str, int]


class ExpressionError(ValueError):
    """An error in an expression; `column` counts from 1."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(f"column {column}: {message}")


def written_for_blender(text: str, variables: Mapping[str, str]) -> str:
    """Return an expression in the form that Blender evaluates. `variables` maps each name to its replacement.

    Raise ExpressionError if the expression is invalid.
    """
    parser = _Parser(text, variables)
    written, _ = parser.sum()
    parser.expect_end()
    return written


def names_in(text: str) -> set[str]:
    """Return the names in an expression that are not functions or built-in names, even if the expression is invalid."""
    names = {match["name"] for match in TOKEN.finditer(text) if match["name"]}
    return names - FUNCTIONS.keys() - set(KNOWN)


class _Parser:
    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._variables = variables
        self._depth = 0

    def sum(self) -> Written:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ExpressionError(f"more than {MAX_DEPTH} levels of parentheses", self._column())
        written = self._product()
        sign = self._take("+", "-")
        while sign is not None:
            written = f"{_in(written, SUM)} {sign} {_in(self._product(), PRODUCT)}", SUM
            sign = self._take("+", "-")
        self._depth -= 1
        return written

    def expect_end(self) -> None:
        if self._at < len(self._tokens):
            raise ExpressionError(f"'{self._tokens[self._at][0]}' is not expected here", self._column())

    def _product(self) -> Written:
        written = self._signed()
        sign = self._take("*", "/")
        while sign is not None:
            written = f"{_in(written, PRODUCT)} {sign} {_in(self._signed(), SIGN)}", PRODUCT
            sign = self._take("*", "/")
        return written

    def _signed(self) -> Written:
        is_negative = False
        sign = self._take("-", "+")
        while sign is not None:
            if sign == "-":
                is_negative = not is_negative
            sign = self._take("-", "+")
        power = self._power()
        if is_negative:
            return (f"-{_in(power, ATOM)}", SIGN)
        return power

    def _power(self) -> Written:
        base = self._atom()
        if self._take("**") is None:
            return base
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ExpressionError(f"more than {MAX_DEPTH} levels of powers", self._column())
        exponent = self._signed()
        self._depth -= 1
        # Blender needs Python for **, but not for pow().
        return f"pow({base[0]}, {exponent[0]})", ATOM

    def _atom(self) -> Written:
        if self._at >= len(self._tokens):
            raise ExpressionError("a number, a name or '(' is missing", self._column())
        token, kind, column = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            # Blender needs Python for numbers like 08, and Python rejects them.
            return LEADING_ZEROS.sub("", token), ATOM
        if kind == "name":
            if token in FUNCTIONS:
                return self._function(token, column)
            return (self._name(token, column), ATOM)
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
            raise ExpressionError(f"'{name}' is neither a variable nor a function; allowed are {allowed}", column)
        return self._variables[name]

    def _function(self, name: str, column: int) -> Written:
        if self._take("(") is None:
            raise ExpressionError(f"{name} is a function: '(' is missing", self._column())
        arguments = [self.sum()[0]]
        while self._take(",") is not None:
            arguments.append(self.sum()[0])
        self._close(column)
        minimum, maximum = FUNCTIONS[name]
        if not minimum <= len(arguments) <= maximum:
            if minimum == maximum:
                count = str(minimum)
            else:
                count = f"{minimum} to {maximum}"
            raise ExpressionError(f"{name} takes {count} arguments, not {len(arguments)}", column)
        return f"{name}({', '.join(arguments)})", ATOM

    def _close(self, opened: int) -> None:
        if self._take(")") is None:
            raise ExpressionError(f"')' is missing for the '(' or function at column {opened}", self._column())

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


def _in(part: Written, required: int) -> str:
    """Return a part's text, in parentheses if it binds less tightly than its context requires."""
    if part[1] >= required:
        return part[0]
    return f"({part[0]})"


def _tokens(text: str) -> list[tuple[str, str, int]]:
    """Return each token with its kind and its column, which counts from 1."""
    tokens: list[tuple[str, str, int]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = TOKEN.match(text, at)
        if match is None:
            column = at + len(text[at:]) - len(text[at:].lstrip())
            raise ExpressionError(f"'{text[column]}' is not allowed in expressions", column + 1)
        kind = match.lastgroup or ""
        tokens.append((match[kind], kind, match.start(kind) + 1))
        at = match.end()
    return tokens

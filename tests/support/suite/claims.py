"""Which test claims which requirement, read from the source of the tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Claim:
    requirement: str
    file: str
    """From the root of the project, as in `tests/engine/test_calls.py`."""
    test: str


@cache
def claims() -> tuple[Claim, ...]:
    """All of them, by file and place in it."""
    return tuple(_claims())


def _claims() -> Iterator[Claim]:
    for path in sorted(TESTS.rglob("test_*.py")):
        file = path.relative_to(TESTS.parent).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for id in _claimed(node):
                    yield Claim(id, file, node.name)


def _claimed(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for node in (inner for decorator in test.decorator_list for inner in ast.walk(decorator)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.proves":
            for argument in node.args:
                assert isinstance(argument, ast.Constant), f"{test.name}: an id is written out where it is claimed"
                yield str(argument.value)

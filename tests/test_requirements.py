"""Requirements and tests name each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from requirements import REQUIREMENTS

TESTS = Path(__file__).parent


def claims() -> Iterator[tuple[str, str]]:
    """Every (test file, id) of a `proves` mark, read from the source."""
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.proves":
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}: an id is written out where it is claimed"
                    yield path.name, str(argument.value)


def test_every_requirement_is_proven_by_a_test() -> None:
    unproven = REQUIREMENTS.keys() - {id for _, id in claims()}
    assert not unproven, sorted(unproven)


def test_every_claim_names_a_known_requirement() -> None:
    unknown = [(file, id) for file, id in claims() if id not in REQUIREMENTS]
    assert not unknown, unknown

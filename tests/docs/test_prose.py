"""The checker of language, `scripts/prose.py`: each rule finds the text that it forbids, and leaves plain text alone."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "prose.py"


@pytest.fixture(scope="module")
def prose() -> Any:
    spec = importlib.util.spec_from_file_location("prose", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["prose"] = module
    spec.loader.exec_module(module)
    return module


def problems(prose: Any, source: str) -> list[str]:
    return list(prose.problems_of_module(Path("sample.py"), ast.parse(source)))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('def f():\n    """Return what the caller was told."""\n', "'told'"),
        ('raise ValueError("try it anew with another name")\n', "'anew'"),
        ("x = 1 if a else 2 if b else 3\n", "conditional expression inside another one"),
        ("if a and (b := c):\n    pass\n", "assignment expression inside a compound condition"),
    ],
)
def test_forbidden_text_and_statements_are_found(prose: Any, source: str, reason: str) -> None:
    (problem,) = problems(prose, source)
    assert reason in problem and problem.startswith("sample.py:")


def test_plain_text_and_statements_pass(prose: Any) -> None:
    assert (
        problems(prose, 'def f():\n    """Return the name again."""\n    if a:\n        return 1\n    return 2\n') == []
    )


def test_documents_are_checked_outside_of_code_and_tables(prose: Any) -> None:
    long_sentence = " ".join(["word"] * (prose.MAX_SENTENCE_WORDS + 1)) + "."
    text = f"You are told so.\n\n```\nanew\n```\n| anew |\n\n{long_sentence}\n"
    found = list(prose.problems_of_document(Path("page.md"), text))
    assert [problem.split(": ")[0] for problem in found] == ["page.md:1", "page.md:8"]


def test_figures_count_openings_passives_names_and_dense_statements(prose: Any) -> None:
    source = 'def f():\n    """What is told."""\n    one = [x for x in y]\n    return one\n'
    figures = prose.measure(ast.parse(source))
    assert (figures.docstrings, figures.free, figures.passive, figures.told) == (1, 1, 1, 1)
    assert (figures.statements, figures.expressions, figures.names, figures.vague_names) == (3, 1, 2, 1)

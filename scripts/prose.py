"""Measure and check how the project's text reads. The rules are those of docs/style.md.

usage: prose.py DIR                        print one row of figures per package of a Python tree, and a total
       prose.py DIR --sample N [--seed S]  print N random docstrings with their locations
       prose.py --check                    check this project's source, messages and documents; exit 1 if a rule is broken
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "blendwright"

FREE_RELATIVE = re.compile(
    r"^(What|Which|Whose|Whoever|Whatever|Where|Whether|Those|That which|The same|The one|Ones?|Nothing|Nobody|Who|Whom|How)\b"
)
PARTICIPLES = (
    "told said given made found held kept taken left lost put read seen sent set shown written known meant asked done begun gone drawn "
    "built cut hidden chosen broken brought bound thrown"
).replace(" ", "|")
PASSIVE = re.compile(
    rf"\b(is|are|was|were|be|been|being)\s+(?:(?:not|never|then|also|only|already|still)\s+)?(\w+ed|{PARTICIPLES})\b"
)
TOLD = re.compile(r"\b(is|are|was|were|be|been|being)\s+(told|said|asked|looked|given|meant)\b|\btold\b|\btells?\b")
VAGUE_WORD = re.compile(
    r"\b(nobody|whoever|others|those|its own|anew|such a one|by itself|gone on with|come along|so many|so long)\b",
    re.IGNORECASE,
)
VAGUE_NAMES = frozenset(
    {
        *(
            "one",
            "each",
            "found",
            "told",
            "made",
            "place",
            "other",
            "more",
            "listed",
            "own",
            "these",
            "those",
            "which",
            "given",
        ),
        *(
            "what",
            "asked",
            "said",
            "them",
            "whole",
            "now",
            "then",
            "way",
            "such",
            "others",
            "rest",
            "gone",
            "known",
            "kept",
        ),
        *("held", "taken", "left"),
    }
)
# Words that have a plain equivalent everywhere, with the words to use instead.
DISCOURAGED = {
    "told": "reported, returned or printed",
    "anew": "again",
    "whoever": "the caller or the user",
    "such a one": "the thing by its name",
    "gone on with": "resumed",
    "goes on with": "resumes",
    "come along": "bundled or shipped",
    "as ever": "still",
    "mended": "fixed",
    "is said": "is reported",
    "are said": "are reported",
    "so many of": "the limit by its name",
}
DISCOURAGED_WORD = re.compile(r"\b(" + "|".join(map(re.escape, DISCOURAGED)) + r")\b", re.IGNORECASE)
MAX_SENTENCE_WORDS = 40
# Upper limits in percent; density is a number of expressions per 100 statements.
LIMITS = {"free": 1.5, "passive": 15.0, "told": 0.5, "vague": 1.0, "locals": 1.0, "dense": 5.0}
MAX_PACKAGE_DENSITY = 7.0
# A package with fewer statements has too few for its density to mean something.
MIN_MEASURED_STATEMENTS = 100


@dataclass
class Figures:
    """Counts of one package, or of a whole tree."""

    docstrings: int = 0
    free: int = 0
    passive: int = 0
    told: int = 0
    vague: int = 0
    statements: int = 0
    expressions: int = 0
    names: int = 0
    vague_names: int = 0

    def add(self, other: Figures) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def percentages(self) -> dict[str, float]:
        """Return every measure by its name in LIMITS."""
        return {
            "free": _percent(self.free, self.docstrings),
            "passive": _percent(self.passive, self.docstrings),
            "told": _percent(self.told, self.docstrings),
            "vague": _percent(self.vague, self.docstrings),
            "locals": _percent(self.vague_names, self.names),
            "dense": _percent(self.expressions, self.statements),
        }


def _percent(part: int, total: int) -> float:
    if total == 0:
        return 0.0
    return 100 * part / total


def docstrings(tree: ast.AST) -> Iterator[tuple[str, int, str]]:
    """Yield name, line and text of every docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", "<module>"), getattr(node, "lineno", 1), text


def measure(tree: ast.AST) -> Figures:
    """Return the figures of one module."""
    figures = Figures()
    for _, _, text in docstrings(tree):
        paragraph = text.split("\n\n")[0]
        figures.docstrings += 1
        figures.free += bool(FREE_RELATIVE.match(text))
        figures.passive += bool(PASSIVE.search(paragraph))
        figures.told += bool(TOLD.search(paragraph))
        figures.vague += bool(VAGUE_WORD.search(paragraph))
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not _is_docstring(node):
            figures.statements += 1
        if isinstance(node, ast.IfExp | ast.comprehension):
            figures.expressions += 1
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            figures.names += 1
            figures.vague_names += node.id in VAGUE_NAMES
    return figures


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def modules(root: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Yield every Python module below a directory with its syntax tree."""
    for path in sorted(root.rglob("*.py")):
        if "__pycache__" not in path.parts:
            yield path, ast.parse(path.read_text("utf-8"))


def figures_by_package(root: Path) -> tuple[dict[str, Figures], Figures]:
    """Return the figures of each package directly below a directory, and of all together."""
    packages: dict[str, Figures] = {}
    total = Figures()
    for path, tree in modules(root):
        figures = measure(tree)
        packages.setdefault(path.relative_to(root).parts[0], Figures()).add(figures)
        total.add(figures)
    return packages, total


def table_row(name: str, figures: Figures) -> str:
    cells = [f"{measure} {value:5.1f}" for measure, value in figures.percentages().items()]
    return f"{name:16} docstrings {figures.docstrings:5}  " + "  ".join(cells)


def print_table(root: Path) -> None:
    packages, total = figures_by_package(root)
    for name, figures in sorted(packages.items()):
        if figures.docstrings:
            print(table_row(name, figures))
    print(table_row("TOTAL", total))


def print_sample(root: Path, size: int, seed: int) -> None:
    rows: list[str] = []
    for path, tree in modules(root):
        for name, line, text in docstrings(tree):
            rows.append(f"{path.relative_to(root)}:{line} {name}\n    {text.strip()}\n")
    for row in random.Random(seed).sample(rows, min(size, len(rows))):
        print(row)


def problems_of_figures() -> Iterator[str]:
    """Yield each measure of the package that is above its limit."""
    packages, total = figures_by_package(PACKAGE)
    for name, value in total.percentages().items():
        if value > LIMITS[name]:
            yield f"src/blendwright: {name} is {value:.1f}; the limit is {LIMITS[name]} (`scripts/prose.py DIR` has a row per package)"
    for name, figures in packages.items():
        density = figures.percentages()["dense"]
        if density > MAX_PACKAGE_DENSITY and figures.statements >= MIN_MEASURED_STATEMENTS:
            yield f"src/blendwright/{name}: dense is {density:.1f}; the limit for a package is {MAX_PACKAGE_DENSITY}"


def problems_of_module(path: Path, tree: ast.Module) -> Iterator[str]:
    """Yield discouraged words in docstrings and messages, and statements that need an `if` block."""
    for node in ast.walk(tree):
        where = f"{path}:{getattr(node, 'lineno', 1)}"
        match node:
            case ast.Constant(value=str(text)) if " " in text:
                for word in _discouraged(text):
                    yield f"{where}: '{word}': use {DISCOURAGED[word]}"
            case ast.IfExp(body=body, orelse=orelse) if isinstance(body, ast.IfExp) or isinstance(orelse, ast.IfExp):
                yield f"{where}: a conditional expression inside another one: use if blocks"
            case ast.BoolOp(values=values) if any(isinstance(value, ast.NamedExpr) for value in values[1:]):
                yield f"{where}: an assignment expression inside a compound condition: assign before the condition"
            case _:
                pass


def problems_of_document(path: Path, text: str) -> Iterator[str]:
    """Yield discouraged words and sentences that are too long, outside of code blocks and tables."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        if in_code or line.startswith(("|", "    ")):
            continue
        prose = re.sub(r"`[^`]*`|\([^)]*\)", "x", line)
        for word in _discouraged(prose):
            yield f"{path}:{number}: '{word}': use {DISCOURAGED[word]}"
        for sentence in re.split(r"(?<=[.!?:;])\s", prose):
            words = len(sentence.split())
            if words > MAX_SENTENCE_WORDS:
                yield f"{path}:{number}: a sentence of {words} words: split it"


def _discouraged(text: str) -> list[str]:
    return sorted({match.lower() for match in DISCOURAGED_WORD.findall(text)})


def _documents() -> Iterable[Path]:
    listing = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listing.stdout.splitlines():
        path = ROOT / name
        # Reference pages are generated from the source, decisions are dated records, and the guide quotes the words to avoid.
        is_record = name.startswith(
            ("docs/decisions/", "docs/reference/", "docs/tools/", "docs/macros/", "docs/style.md")
        )
        if path.exists() and not is_record:
            yield path


def check() -> int:
    """Print every broken rule and return the exit code."""
    problems = list(problems_of_figures())
    for path, tree in modules(PACKAGE):
        problems += problems_of_module(path.relative_to(ROOT), tree)
    for path in _documents():
        problems += problems_of_document(path.relative_to(ROOT), path.read_text("utf-8"))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems of language; docs/style.md has the rules")
    return 1 if problems else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.check:
        return check()
    if options.directory is None:
        parser.error("name a directory, or pass --check")
    if options.sample is None:
        print_table(options.directory)
    else:
        print_sample(options.directory, options.sample, options.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks the documents: every relative link leads somewhere, every command that is shown exists, nothing names a machine."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from blendwright.cli.commands import COMMANDS
from blendwright.macros import package_macros
from blendwright.schemas import published
from blendwright.tools import catalog

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\((?!https?://|#)([^)#]+)[^)]*\)")
COMMAND = re.compile(r"^\s*(?:\.venv/bin/)?blendwright ([a-z-]+)(?: ([a-z_]+\.[a-z0-9_]+))?", re.MULTILINE)
TARGET = re.compile(r"\bmake ([a-z][a-z-]*)\b")


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    documents = [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).exists()]
    problems = [problem for document in documents for problem in _problems(document)]
    for problem in problems:
        print(problem)
    print(f"{len(documents)} documents, {len(problems)} problems")
    return 1 if problems else 0


def _problems(document: Path) -> Iterator[str]:
    text = document.read_text()
    name = document.relative_to(ROOT)
    commands = set(COMMANDS)
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    known = {*catalog.tools(), *package_macros(), *published.names()}
    for link in LINK.findall(text):
        if not (document.parent / link.strip()).exists():
            yield f"{name}: the link to {link} leads nowhere"
    for command, tool in COMMAND.findall(text):
        if command not in commands:
            yield f"{name}: there is no command blendwright {command}"
        if tool and tool not in known and not tool.endswith((".json", ".star", ".blend")):
            yield f"{name}: there is no tool, macro or schema {tool}"
    for target in TARGET.findall(text):
        if target not in targets and f"`make {target}" in text:
            yield f"{name}: there is no make {target}"


if __name__ == "__main__":
    sys.exit(main())

"""Counts the lines that a reader has to know before they can change the core.

  python scripts/core_lines.py            a table: lines of code, of docstrings and comments, and files, for each package of the core
  python scripts/core_lines.py --total    only the number of lines of code of the reading list

The reading list is the packages through which every run goes, and the base class of the tools. It leaves out what a reader needs for one
subject only: single tools, the port on bpy, node trees, macros and programs, and every capability.
"""

from __future__ import annotations

import io
import sys
import tokenize
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "blendwright"
READING = (
    "capabilities.py", "cli", "workspace", "engine", "approvals", "journal", "plan", "dialects", "policy", "records", "bridge", "wire",
    "tool_api", "values", "schemas", "util", "blender/step.py", "blender/worker",
)  # fmt: skip
ONE_SUBJECT = ("views", "web", "macros", "programs", "nodes", "blendfile", "tools", "blender")
NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def files_of(part: str) -> list[Path]:
    path = SOURCE / part
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def code_lines(text: str) -> int:
    """Lines with code on them. A string that stands alone is a docstring, and no code."""
    lines: set[int] = set()
    at_start = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in NOT_CODE:
            at_start = at_start or token.type == tokenize.NEWLINE
            continue
        if not (token.type == tokenize.STRING and at_start):
            lines.update(range(token.start[0], token.end[0] + 1))
        at_start = False
    return len(lines)


def count(files: list[Path]) -> tuple[int, int]:
    texts = [file.read_text() for file in files]
    return sum(map(code_lines, texts)), sum(text.count("\n") for text in texts)


def main() -> None:
    reading = [file for part in READING for file in files_of(part)]
    if "--total" in sys.argv:
        print(count(reading)[0])
        return
    for title, parts in (("to know before changing the core", READING), ("for one subject only", ONE_SUBJECT)):
        print(title)
        for part in parts:
            files = [file for file in files_of(part) if parts is READING or file not in reading]
            code, lines = count(files)
            print(f"  {part:18} {code:6} lines of code, {lines:6} lines, {len(files):4} files")
    code, lines = count(reading)
    print(f"to know: {code} lines of code, {lines} lines, {len(reading)} files")


if __name__ == "__main__":
    main()

"""Runs the conformance suite on every Blender that is supported, each in an environment of its own under .envs, and prints a table.

`python scripts/test_matrix.py [SERIES ...] [-- PYTEST OPTIONS]`. With NODES=write the catalogues of nodes are brought up to date as well,
not only checked. Exit code 1 when something failed, or could not be run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.table import Table

from blendwright.bridge.environments.interpreters import find_interpreter
from blendwright.bridge.environments.records import digest
from blendwright.bridge.environments.series import SERIES, Series, own_blender, series_named

ROOT = Path(__file__).resolve().parents[1]
SUITES = ("tests/conformance", "tests/tools", "tests/blender/fingerprint")
PIN = re.compile(r"^([a-z0-9-]+)==", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    blender: str
    python: str
    nodes: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    ok: bool = False


def main(arguments: Sequence[str]) -> int:
    split = list(arguments).index("--") if "--" in arguments else len(arguments)
    names, options = arguments[:split], arguments[split + 1 :]
    chosen = [_named(name) for name in names] or list(SERIES)
    rows = [_run(series, options) for series in chosen]
    table = Table("Blender", "Python", "nodes", "passed", "failed", "skipped", "seconds", "")
    for row in rows:
        counts = (row.passed, row.failed, row.skipped, round(row.seconds))
        table.add_row(row.blender, row.python, row.nodes, *map(str, counts), "ok" if row.ok else "FAILED")
    Console(width=100).print(table)
    return 0 if all(row.ok for row in rows) else 1


def _named(name: str) -> Series:
    series = series_named(name)
    if series is None:
        sys.exit(f"Blender {name} is none of {', '.join(each.name for each in SERIES)}")
    return series


def _run(series: Series, options: Sequence[str]) -> Row:
    print(f"== Blender {series.version}", flush=True)
    python = _environment(series)
    if python is None:
        print(f"Python {series.python_text} is not here", flush=True)
        return Row(series.version, f"{series.python_text} missing", "not run")
    started = monotonic()
    check = [] if os.environ.get("NODES") == "write" else ["--check"]
    nodes = subprocess.run([python, "scripts/generate_nodes.py", *check], cwd=ROOT, check=False).returncode == 0
    report = ROOT / "build" / f"matrix-{series.version}.xml"
    report.unlink(missing_ok=True)
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow or more_examples",
        f"--junit-xml={report}",
        *options,
    ]
    done = subprocess.run([*command, *SUITES], cwd=ROOT, check=False)
    counts = _counts(report)
    return Row(
        series.version,
        series.python_text,
        "current" if nodes else "OUTDATED",
        *counts,
        seconds=monotonic() - started,
        ok=nodes and done.returncode == 0 and counts[0] > 0,
    )


def _counts(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests of a run."""
    if not report.is_file():
        return 0, 0, 0
    suite = next(ElementTree.parse(report).getroot().iter("testsuite"))
    number = {name: int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped")}
    failed = number["failures"] + number["errors"]
    return number["tests"] - failed - number["skipped"], failed, number["skipped"]


def _environment(series: Series) -> Path | None:
    """The interpreter of an environment with this Blender and what the tests need; made once, and again when its pins change."""
    if own_blender() == series.version:
        return Path(sys.executable)
    interpreter = find_interpreter(series.python)
    if interpreter is None:
        return None
    place = ROOT / ".envs" / f"bpy-{series.version}"
    requirements = _requirements(series)
    ready = place / ".ready"
    python = place / "bin" / "python"
    if not ready.is_file() or ready.read_text() != digest(requirements) or not python.is_file():
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([interpreter.path, "-m", "venv", place], check=True)
        (place / "requirements.txt").write_text(requirements)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--require-hashes", "--no-deps", "-r", place / "requirements.txt"], check=True)
        subprocess.run([*install, "--no-deps", "--no-build-isolation", "-e", ROOT], check=True)
        compiling = [python, "-m", "compileall", "-q", "-q", "-j", "2", place / "lib"]
        subprocess.run(compiling, capture_output=True, check=False)
        ready.write_text(digest(requirements))
    return python


def _requirements(series: Series) -> str:
    """The project's own pins, with those of the series in the place of Blender's."""
    tested = (ROOT / "requirements" / f"{series.python_text}.txt").read_text()
    pins = series.requirements
    replaced = {*PIN.findall(pins), "bpy", "numpy"}
    blocks = re.split(r"(?m)^(?=[a-z0-9])", tested)
    kept = [block for block in blocks if (name := PIN.match(block)) is None or name[1] not in replaced]
    return "".join(kept) + pins


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

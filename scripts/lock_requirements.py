"""Pins everything with hashes: requirements/ for working on the project, and what workers of each Blender need, which the package ships.

The first argument is uv. The files name no index and no host. Workers get the versions that the project itself is tested with.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from blendwright.bridge.environments.series import SERIES

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements"
LOCKS = ROOT / "src" / "blendwright" / "bridge" / "environments" / "locks"
EXTRAS = ("blender", "anthropic", "openai", "otel", "fleet", "parquet", "dev")
WHAT = ("--generate-hashes", "--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--no-header")


def compile_lock(uv: str, source: str, python: str, target: Path, options: Sequence[str] = (), given: str = "") -> None:
    """Pins that the target has already are kept where they still fit; `--upgrade` takes the newest."""
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [uv, "pip", "compile", "--quiet", *WHAT, "--python-version", python, *options]
    subprocess.run([*command, "-o", str(target), source], input=given, text=True, check=True, cwd=ROOT)
    print(target.relative_to(ROOT))


def main(uv: str, *options: str) -> int:
    extras = [part for extra in EXTRAS for part in ("--extra", extra)]
    for python in ("3.11", "3.13"):
        compile_lock(uv, "pyproject.toml", python, REQUIREMENTS / f"{python}.txt", [*extras, *options])
    for series in SERIES:
        given = "\n".join((f"bpy=={series.version}", *series.requires))
        tested = REQUIREMENTS / f"{series.python_text}.txt"
        pins = [line.partition(" ")[0] for line in tested.read_text().splitlines() if line[:1].isalnum()]
        # numpy and bpy are those of the series.
        held = "\n".join(pin for pin in pins if not pin.startswith(("bpy==", "numpy==")))
        constraints = ROOT / "build" / "constraints.txt"
        constraints.parent.mkdir(exist_ok=True)
        constraints.write_text(held)
        compile_lock(
            uv, "-", series.python_text, LOCKS / f"{series.name}.txt", ["-c", str(constraints), *options], given
        )
    # For any Python, since wheels of one version have the hashes of all of them.
    constraints = ["-c", str(ROOT / "build" / "constraints.txt")]
    compile_lock(uv, "-", "3.11", LOCKS / "executable.txt", [*constraints, "--universal", *options], "pydantic>=2.12")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Runs code in a process with the environment of a worker, and reads its report."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from blendwright.wire.worker_environment import private_directories, private_environment

_ROOT = Path(__file__).parents[3]


def run_main(module: str, *arguments: object, scratch: Path, **how: Any) -> dict[str, Any]:
    """Run `main` of a module of this directory. The worker's environment hides the current directory: name it."""
    source = f"import sys; sys.path.append({str(_ROOT)!r}); from tests.blender.confinement.{module} import main; main()"
    return run_source(source, *arguments, scratch=scratch, **how)


def run_source(
    source: str, *arguments: object, scratch: Path, descriptors: tuple[int, ...] = (), user: int | None = None
) -> dict[str, Any]:
    """Run source text; the descriptor for its report is the last argument it gets."""
    for directory in private_directories(scratch):  # an unconfined child makes none, and would litter /tmp
        directory.mkdir(exist_ok=True)
        if user is not None:
            os.chown(directory, user, -1)
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", source, *map(str, arguments), str(writer)],
        env=private_environment(scratch),
        pass_fds=(writer, *descriptors),
        user=user,
        cwd=scratch,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    os.close(writer)
    output, _ = process.communicate(timeout=90)
    with os.fdopen(reader, "rb") as report:
        text = report.read()
    assert text, f"no report, exit code {process.returncode}:\n{output.decode(errors='replace')[-4000:]}"
    return json.loads(text)

"""Machines of a fleet, as processes here: workers and coordinators as users start them, each with a directory of its own."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

COMMAND = (str(Path(sys.executable).with_name("blendwright")),)
PROGRAM = """\
seed = param("seed", 0)
cube = mesh.create_primitive(kind = "cube", name = "Cube %d" % seed, size = 1.0 + seed * 0.125)
ball = mesh.create_primitive(kind = "uv_sphere", name = "Ball", radius = 0.5, location = [seed * 1.0, 0, 1])
material.assign(object = ball, material = material.ensure_principled(name = "Red", base_color = [0.8, 0.1, 0.1]))
"""
STALLED_AFTER = 8.0
"""Seconds: the machine of the tests is a busy one."""


class Machines:
    """Everything is started in one directory, so that whatever is left over can be found."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.outputs = f"file://{place / 'outputs'}"
        self.program = place / "small.star"
        self.program.write_text(PROGRAM)
        self._numbers = count(1)
        self._processes: list[subprocess.Popen[bytes]] = []

    def worker(self, *options: str, lanes: int = 1) -> subprocess.Popen[bytes]:
        number = next(self._numbers)
        return self._start(
            f"worker-{number}", "worker", "--workers", str(lanes), "--work", str(self.place / f"machine-{number}"),
            "--stalled-after", str(STALLED_AFTER), "--outputs", str(self.place), "--json", *options,
        )  # fmt: skip

    def coordinator(self, cases: int, *options: str) -> subprocess.Popen[bytes]:
        return self._start(f"coordinator-{next(self._numbers)}", *self.batch(cases), "--engine", "env", *options)

    def batch(self, cases: int, out: str | None = None) -> tuple[str, ...]:
        seeds = ("--seeds", f"0:{cases}")
        return ("batch", "run", str(self.program), *seeds, "--out", out or self.outputs, "--output", "glb", "--json")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*COMMAND, *arguments], cwd=self.place, capture_output=True, check=False)

    def log(self, process: subprocess.Popen[bytes]) -> str:
        return "".join(path.read_text() for path in sorted(self.place.glob(f"*.{process.pid}.*")))

    def events(self, process: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
        """What a worker has said so far; a line that is being written is not there yet."""
        texts = [path.read_text() for path in self.place.glob(f"*.{process.pid}.out")]
        return [json.loads(line) for text in texts for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def end(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()

    def processes_left(self) -> dict[int, str]:
        """Whatever works in our directory: lanes inherit it, Blenders have their scratch in it."""
        left: dict[int, str] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    where = (entry / "cwd").readlink()
                    if where.is_relative_to(self.place):
                        left[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return left

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        # Named by its process, which is known only afterwards.
        out, err = self.place / f"{name}.out", self.place / f"{name}.err"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen([*COMMAND, *arguments], cwd=self.place, stdout=stdout, stderr=stderr)
        for path in (out, err):
            path.rename(path.with_name(f"{name}.{process.pid}{path.suffix}"))
        self._processes.append(process)
        return process


def wait_until(true: Callable[[], Any], seconds: float, what: str) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, f"not within {seconds:g} s: {what}"
        time.sleep(0.1)


def tree(pid: int) -> list[int]:
    """A process and everything below it, whichever of its threads has started it."""
    children = list[str]()
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            children += thread.read_text().split()
    return [pid, *(below for child in children for below in tree(int(child)))]

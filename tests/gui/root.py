"""A root of `scripts/gui-root`: a small Debian whose Blender opens windows, and how commands run in it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ROOTS = PROJECT / ".envs" / "gui"
# The suites of Debian, and the series of their Blenders.
SUITES = {"trixie": "4.3", "sid": "5.2"}

# Everything up to the command is replaced by the command itself: its pid is that of the process that was started, and it sees the pids,
# sockets and users of everybody else. The mounts belong to a namespace that ends with the last process in it, however that dies.
# Directories from the third argument to `--` have the same path inside as outside; the rest of the root cannot be written.
ENTER = """
set -e
root=$1 tmp=$2; shift 2
mount --bind "$root" "$root"
mount --bind "$tmp" "$root/tmp"
for place; do [ "$place" = -- ] && break; mkdir -p "$root$place"; done
mount -o remount,bind,ro "$root"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
while [ "$1" != -- ]; do mount --rbind "$1" "$root$1"; shift; done
shift
exec chroot "$root" "$@"
"""


@dataclass(frozen=True)
class Root:
    """What is run here ends with this process, and sees the project and `place` under the paths that they have outside."""

    suite: str
    place: Path
    """A directory for one test, with a short path: sockets in it are shared. `place/tmp` is /tmp inside."""

    @property
    def series(self) -> str:
        return SUITES[self.suite]

    @property
    def home(self) -> Path:
        return self.place / "home"

    @property
    def cache(self) -> Path:
        return ROOTS.resolve() / f"cache-{self.suite}"

    @property
    def environment(self) -> dict[str, str]:
        """Where a person's own files are. A core that is to find the windows needs the same HOME and XDG_RUNTIME_DIR."""
        return {
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.place / "run"),
            "BLENDER_USER_RESOURCES": str(self.home / "blender"),
        }

    def command(self, command: Sequence[str | Path]) -> list[str | Path]:
        """The command that runs this one inside."""
        return [
            *("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private"),
            *("sh", "-c", ENTER, "sh", (ROOTS / self.suite).resolve(), self.place / "tmp"),
            *(PROJECT, self.place, self.cache, "--"),
            *command,
        ]

    def start(
        self,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        output: IO[bytes] | int = subprocess.DEVNULL,
        keep_open: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        for directory in (self.place / "tmp", self.place / "run", self.home, self.cache):
            directory.mkdir(mode=0o700, exist_ok=True)
        return subprocess.Popen(
            self.command(command),
            env={
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "LANG": "C.UTF-8",
                "LIBGL_ALWAYS_SOFTWARE": "1",
                # Compiled shaders: with them a start takes a third of the processor time.
                "XDG_CACHE_HOME": str(self.cache),
                **self.environment,
                **(environment or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=keep_open,
            start_new_session=True,
        )

    def run(
        self,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        code: int | None = 0,
        seconds: float = 120,
    ) -> str:
        """What the command printed. `code` is how it must end; None allows all."""
        with tempfile.TemporaryFile() as output:
            process = self.start(command, environment=environment, output=output)
            try:
                process.wait(seconds)
            finally:
                process.kill()
                process.wait()
            output.seek(0)
            text = output.read().decode(errors="replace")
        assert code is None or process.returncode == code, f"{command} ended with {process.returncode}:\n{text}"
        return text


def use_root(suite: str, place: Path) -> Root:
    """Where there is none, the test is skipped, and says why."""
    if not (ROOTS / suite / "etc" / "blendwright-gui-root").is_file():
        pytest.skip(f"there is no root of Debian {suite} here: run `bash scripts/gui-root {suite}`")
    if os.geteuid() != 0:
        pytest.skip("a root is entered as root")
    return Root(suite, place)

"""Where one case is worked on: its workspace in the work directory, gone on with where an attempt was cut off, and what is kept of it.

Journals of cases do not wait for the disk: a case that the machine took with it can be made again. So what lies there is worth something
only as long as the machine runs that it was written on, and is begun anew after that.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from blendwright.batch.cases.case import require_key
from blendwright.batch.definition import Keep
from blendwright.batch.outputs.owned_directories import remove_own
from blendwright.batch.outputs.store import WORKSPACE

BOOT = "boot"
# What a compact workspace goes without: nothing of it is needed to look back, to replay or to verify.
DISPENSABLE = ("logs", "artifacts", "frames")


class CasePlace:
    """The directory of one case, by its key. Raises EnvironmentUnfit for what is no key."""

    def __init__(self, work: Path, key: str) -> None:
        self._work = work
        self._directory = work / "cases" / require_key(key)[:32]

    @property
    def workspace(self) -> Path:
        return self._directory / WORKSPACE

    def prepare(self) -> None:
        """Ready to be opened: with what an earlier attempt left, where that can be trusted."""
        mark = self._directory / BOOT
        running = boot_id()
        if self._is_linked() or (running is None or not mark.is_file() or mark.read_text() != running):
            self.remove()
        if not self._directory.exists():
            self._directory.mkdir(parents=True)
            mark.write_text(running or "")

    def keep_in(self, target: Path, keep: Keep) -> None:
        """Put the workspace, closed, among the outputs, as far as it is to be kept. The scratch is nobody's any more."""
        if keep == "drop":
            return
        for name in ("scratch", *(DISPENSABLE if keep == "compact" else ())):
            shutil.rmtree(self.workspace / name, ignore_errors=True)
        self.workspace.rename(target / WORKSPACE)

    def remove(self) -> None:
        remove_own(self._work.parent, Path(self._work.name, "cases"), self._directory.name)

    def _is_linked(self) -> bool:
        """Nothing here is ever made as a link, and what one leads to is somebody else's."""
        return any(path.is_symlink() for path in (self._directory, self._directory / BOOT, self.workspace))


def boot_id() -> str | None:
    """What tells this run of the machine from any other; None where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None

"""The working directory of one case, in which a later attempt resumes an interrupted one.

Journals of cases do not wait for the disk, because a case that is lost in a power failure can run again. Therefore Blendwright trusts a
workspace only until the machine restarts, and then starts the case again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from blendwright.batch.cases.case import require_key
from blendwright.batch.definition import Keep
from blendwright.batch.outputs.owned_directories import remove_own
from blendwright.batch.outputs.store import WORKSPACE

BOOT = "boot"
# Directories that a compact workspace does not contain. History, replay and verification do not need them.
DISPENSABLE = ("logs", "artifacts", "frames")


class CaseDirectory:
    """The working directory of one case, named by the case's key. Raises EnvironmentUnfit for an invalid key."""

    def __init__(self, work: Path, key: str) -> None:
        self._work = work
        self._directory = work / "cases" / require_key(key)[:32]

    @property
    def workspace(self) -> Path:
        return self._directory / WORKSPACE

    def prepare(self) -> None:
        """Create the directory, or keep the one of an earlier attempt if this boot of the machine wrote it."""
        mark = self._directory / BOOT
        running = boot_id()
        is_trusted = running is not None and mark.is_file() and mark.read_text() == running
        if self._is_linked() or not is_trusted:
            self.remove()
        if not self._directory.exists():
            self._directory.mkdir(parents=True)
            mark.write_text(running or "")

    def keep_in(self, target: Path, keep: Keep) -> None:
        """Move the closed workspace to the outputs, without the parts that `keep` excludes. Do nothing if `keep` is "drop"."""
        if keep == "drop":
            return
        shutil.rmtree(self.workspace / "scratch", ignore_errors=True)
        if keep == "compact":
            for name in DISPENSABLE:
                shutil.rmtree(self.workspace / name, ignore_errors=True)
        self.workspace.rename(target / WORKSPACE)

    def remove(self) -> None:
        remove_own(self._work.parent, Path(self._work.name, "cases"), self._directory.name)

    def _is_linked(self) -> bool:
        """Return whether a path is a symbolic link. Blendwright creates none here, so the link's target belongs to another owner."""
        return any(path.is_symlink() for path in (self._directory, self._directory / BOOT, self.workspace))


def boot_id() -> str | None:
    """Return an id that changes with every start of the machine, or None if the system provides none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None

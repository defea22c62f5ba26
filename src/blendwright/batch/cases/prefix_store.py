"""Shared prefixes of cases: a workspace with the commits of the shared operations, from which the workspace of a case starts as a copy.

The copy is a complete and valid journal. Its commits have the request id and operation keys of every case and have audit records, so the
case finds the operations already done. Blendwright opens the scene from a checkpoint and checks its hash against the journal.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from blendwright.batch.cases.prefixes import Prefix, Sharing
from blendwright.journal.audit.head_notes import FILE as AUDIT_HEAD
from blendwright.journal.checkpoints.files import DIRECTORY as CHECKPOINTS
from blendwright.journal.store import FILE as JOURNAL
from blendwright.util.cancel import CancelToken
from blendwright.util.directory_removal import remove_directory
from blendwright.values.plan import Plan
from blendwright.workspace import OpenScene, RunOptions

# Opening a checkpoint and hashing its scene takes at least 20 ms of processor time. A shorter prefix is faster to run again.
MIN_PREFIX_SECONDS = 0.1
# Prefixes that all worker processes together keep. The oldest is deleted first.
MAX_PREFIXES = 24
# Suffix of an empty file that marks a prefix as not worth keeping.
CHEAP = ".cheap"
PREFIXES = "prefixes"

OpenWorkspace = Callable[[Path], OpenScene]


def is_of_use(directory: Path) -> bool:
    """Return whether the worker processes have kept any shared prefix so far, or have not judged one yet."""
    if not directory.is_dir():
        return True
    judged = [path for path in directory.iterdir() if not path.name.startswith("making-")]
    return not judged or any(path.suffix != CHEAP for path in judged)


class PrefixStore:
    """The shared prefixes that the worker processes of a machine have made, by hash."""

    def __init__(self, directory: Path, open_workspace: OpenWorkspace, sharing: Sharing) -> None:
        self._directory = directory
        self._open = open_workspace
        self._sharing = sharing

    def begin(
        self, plan: Plan, prefixes: Sequence[Prefix], workspace: Path, cancel: CancelToken | None = None
    ) -> Prefix | None:
        """Create `workspace` as a copy of the longest useful prefix, and return that prefix. Make missing prefixes first.

        Return None and create no workspace if no prefix is useful."""
        hashes = self._sharing.hashes(plan)
        # The prefixes come from another evaluation of the program. Use only those that this plan confirms.
        confirmed = [(size, hash) for size, hash in prefixes if size <= len(hashes) and hashes[size - 1] == hash]
        used: Prefix | None = None
        for prefix in confirmed:
            if self._exists(prefix) or self._make(plan, prefix, used, cancel):
                used = prefix
        if used is not None and self._copy(used, workspace):
            return used
        return None

    def reject(self, prefix: Prefix) -> None:
        """Delete a prefix that saved no time, so that no further case starts from it."""
        self._mark(prefix)
        remove_directory(self._path(prefix))

    def _exists(self, prefix: Prefix) -> bool:
        return (self._path(prefix) / JOURNAL).is_file()

    def _make(self, plan: Plan, prefix: Prefix, base: Prefix | None, cancel: CancelToken | None) -> bool:
        """Make a prefix, starting from a shorter one, and return whether it exists now.

        Return False if running the operations is as fast as opening the result, or if they fail."""
        if self._path(prefix).with_suffix(CHEAP).exists():
            return False
        workspace = self._directory / f"making-{os.getpid()}"
        remove_directory(workspace)
        if base is not None and not self._copy(base, workspace):
            return False

        part = replace(plan, operations=plan.operations[: prefix[0]], program=None, remarks=None)
        with self._open(workspace) as opened:
            opened.warm()
            started = perf_counter()
            report = opened.run(part, RunOptions(cancel=cancel, background=True))
            is_useful = report.ok and perf_counter() - started >= MIN_PREFIX_SECONDS
            if is_useful:
                opened.save_checkpoint()
        if not is_useful:
            # A failing operation fails again in the case itself, which reports the reason.
            if not report.cancelled:
                self._mark(prefix)
            remove_directory(workspace)
            return False

        self._drop_oldest()
        with contextlib.suppress(OSError):  # another worker process made it first
            workspace.rename(self._path(prefix))
        remove_directory(workspace)
        return self._exists(prefix)

    def _copy(self, prefix: Prefix, workspace: Path) -> bool:
        """Copy a prefix to a workspace. Return False if another worker process has deleted the prefix.

        Blendwright never overwrites a checkpoint file, so a hard link is as good as a copy."""
        source = self._path(prefix)
        try:
            (workspace / CHECKPOINTS).mkdir(mode=0o700, parents=True)
            workspace.chmod(0o700)
            for checkpoint in (source / CHECKPOINTS).iterdir():
                os.link(checkpoint, workspace / CHECKPOINTS / checkpoint.name)
            shutil.copy(source / AUDIT_HEAD, workspace / AUDIT_HEAD)
            # The journal comes last, because a directory without a journal is not a workspace.
            shutil.copy(source / JOURNAL, workspace / JOURNAL)
        except OSError:
            remove_directory(workspace)
            return False
        return True

    def _path(self, prefix: Prefix) -> Path:
        return self._directory / prefix[1]

    def _mark(self, prefix: Prefix) -> None:
        """Mark a prefix as not worth keeping."""
        self._directory.mkdir(parents=True, exist_ok=True)
        self._path(prefix).with_suffix(CHEAP).touch()

    def _drop_oldest(self) -> None:
        prefixes = [path for path in self._directory.iterdir() if (path / JOURNAL).is_file()]
        prefixes.sort(key=lambda path: path.stat().st_mtime)
        excess = max(0, len(prefixes) - MAX_PREFIXES)
        for path in prefixes[:excess]:
            if not path.name.startswith("making-"):
                remove_directory(path)

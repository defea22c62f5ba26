"""Beginnings that cases share, done once: a workspace with their commits and a checkpoint, of which a case's workspace starts as a copy.

The copy is a whole and honest journal: the commits of the beginning, made under the request id and the operation keys of every case, with
their audit records; the case then finds them done. Its scene is opened from the checkpoint and has to have the hash that the journal says.
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

# Opening a checkpoint and hashing what is in it takes some 20 ms of processor time and more: what is done quicker is done again.
WORTH_SECONDS = 0.1
# Of all lanes together; the oldest goes first.
MOST_KEPT = 24
CHEAP = ".cheap"
PREFIXES = "prefixes"

OpenWorkspace = Callable[[Path], OpenScene]


def is_of_use(directory: Path) -> bool:
    """Whether the lanes have made any of what they were told to share, or have not come to it yet."""
    if directory.is_dir():
        judged = [path for path in directory.iterdir() if not path.name.startswith("making-")]
    else:
        judged = []
    return not judged or any(path.suffix != CHEAP for path in judged)


class PrefixStore:
    """The beginnings that the lanes of a machine have made, by their hashes."""

    def __init__(self, directory: Path, open_workspace: OpenWorkspace, sharing: Sharing) -> None:
        self._directory = directory
        self._open = open_workspace
        self._sharing = sharing

    def begin(
        self, plan: Plan, prefixes: Sequence[Prefix], workspace: Path, cancel: CancelToken | None = None
    ) -> Prefix | None:
        """Make `workspace`, which is not there, a copy of the longest beginning that is worth it, made now where it is missing; None where
        none is, and then there is no workspace."""
        hashes = self._sharing.hashes(plan)
        # What was found from another evaluation of the program must be so in this one.
        wanted = [(size, hash) for size, hash in prefixes if size <= len(hashes) and hashes[size - 1] == hash]
        used: Prefix | None = None
        for prefix in wanted:
            if self._is_there(prefix) or self._make(plan, prefix, used, cancel):
                used = prefix
        if used is not None and self._copy(used, workspace):
            return used
        return None

    def reject(self, prefix: Prefix) -> None:
        """It did not save what it should: nobody starts from it any more."""
        self._mark(prefix)
        remove_directory(self._place(prefix))

    def _is_there(self, prefix: Prefix) -> bool:
        return (self._place(prefix) / JOURNAL).is_file()

    def _make(self, plan: Plan, prefix: Prefix, base: Prefix | None, cancel: CancelToken | None) -> bool:
        """Whether it is there now: not where it is done as quickly as it would be opened, or cannot be done at all."""
        if self._place(prefix).with_suffix(CHEAP).exists():
            return False
        made = self._directory / f"making-{os.getpid()}"
        remove_directory(made)
        if base is not None and not self._copy(base, made):
            return False
        part = replace(plan, operations=plan.operations[: prefix[0]], program=None, remarks=None)
        with self._open(made) as opened:
            opened.warm()
            started = perf_counter()
            report = opened.run(part, RunOptions(cancel=cancel, background=True))
            worth = report.ok and perf_counter() - started >= WORTH_SECONDS
            if worth:
                opened.save_checkpoint()
        if not worth:
            # What fails, fails in the case itself, which says why.
            if not report.cancelled:
                self._mark(prefix)
            remove_directory(made)
            return False
        self._drop_oldest()
        with contextlib.suppress(OSError):  # another lane was quicker
            made.rename(self._place(prefix))
        remove_directory(made)
        return self._is_there(prefix)

    def _copy(self, prefix: Prefix, workspace: Path) -> bool:
        """Whether it could be had: another lane may have dropped it. Checkpoints are never written again under their names, so a second
        name for the same file is a copy."""
        place = self._place(prefix)
        try:
            (workspace / CHECKPOINTS).mkdir(mode=0o700, parents=True)
            workspace.chmod(0o700)
            for checkpoint in (place / CHECKPOINTS).iterdir():
                os.link(checkpoint, workspace / CHECKPOINTS / checkpoint.name)
            shutil.copy(place / AUDIT_HEAD, workspace / AUDIT_HEAD)
            # The last one: without it there is no workspace yet.
            shutil.copy(place / JOURNAL, workspace / JOURNAL)
        except OSError:
            remove_directory(workspace)
            return False
        return True

    def _place(self, prefix: Prefix) -> Path:
        return self._directory / prefix[1]

    def _mark(self, prefix: Prefix) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        self._place(prefix).with_suffix(CHEAP).touch()

    def _drop_oldest(self) -> None:
        made = [path for path in self._directory.iterdir() if (path / JOURNAL).is_file()]
        for path in sorted(made, key=lambda path: path.stat().st_mtime)[: max(0, len(made) - MOST_KEPT)]:
            if not path.name.startswith("making-"):
                remove_directory(path)

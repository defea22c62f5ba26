"""A copy of a workspace's journal that can be worked on and thrown away. The original is only read, and needs no lock."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

import apsw

from blendwright.journal.checkpoint_files import PART, CheckpointFiles
from blendwright.journal.store import BUSY_MS, FILE, translate_errors


def has_journal(workspace: Path) -> bool:
    return (workspace / FILE).is_file()


def copy_journal(workspace: Path, target: Path) -> None:
    """`target` becomes a workspace with the same commits and checkpoints, as they are committed at one moment.

    Through SQLite and not as a file: what a writer has in its log belongs to it, and closing the file would drop the
    locks that this process may hold on it.
    """
    with translate_errors(f"copying the journal of {workspace}"), contextlib.ExitStack() as closing:
        target.mkdir(parents=True, exist_ok=True)
        # The stubs of apsw leave parts unknown.
        source: Any = apsw.Connection(str(workspace / FILE), apsw.SQLITE_OPEN_READONLY)
        closing.callback(source.close)
        source.set_busy_timeout(BUSY_MS)
        copy: Any = apsw.Connection(str(target / FILE))
        closing.callback(copy.close)
        with copy.backup("main", source, "main") as backup:
            backup.step(-1)
        # After the rows, so that every row has its file; one that `gc` takes meanwhile counts as damaged, as it would there.
        _link_checkpoints(CheckpointFiles(workspace).directory, CheckpointFiles(target).directory)


def _link_checkpoints(source: Path, target: Path) -> None:
    """Checkpoints are never written again under their names: a second name for the same file is a copy."""
    target.mkdir(exist_ok=True)
    if not source.is_dir():
        return
    for path in source.iterdir():
        if path.name.endswith(PART):
            continue
        with contextlib.suppress(FileNotFoundError):
            try:
                os.link(path, target / path.name)
            except FileNotFoundError:
                raise
            except OSError:
                # Not every file system has links.
                shutil.copyfile(path, target / path.name)

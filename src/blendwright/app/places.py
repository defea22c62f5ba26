"""Where workspaces are: which directory is meant, and whether there is one. Loads nothing of what works in it."""

from __future__ import annotations

from pathlib import Path

from blendwright.journal.file_modes import DATABASE
from blendwright.values.errors import EnvironmentUnfit


def workspace_directory(workspace: str | Path) -> Path:
    """The directory of a workspace, which need not be there yet. Raises EnvironmentUnfit for what cannot be one."""
    try:
        directory = Path(workspace).resolve()
        wrong = "it is a file" if directory.exists() and not directory.is_dir() else None
    except (OSError, ValueError) as error:
        directory, wrong = Path(workspace), getattr(error, "strerror", None) or str(error)
    if wrong is not None:
        raise EnvironmentUnfit(f"{directory} cannot be a workspace: {wrong}", cure="Name another directory.")
    return directory


def is_workspace(workspace: str | Path) -> bool:
    """Whether there is a workspace already."""
    return (Path(workspace) / DATABASE).exists()

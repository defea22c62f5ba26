"""Where workspaces and settings are: which directory or file is meant, and whether there is one. Loads nothing of what works there."""

from __future__ import annotations

import os
from pathlib import Path

from blendwright.journal.file_modes import DATABASE
from blendwright.values.errors import EnvironmentUnfit

SETTINGS = "blendwright.toml"


def workspace_directory(workspace: str | Path) -> Path:
    """The directory of a workspace, which need not be there yet. Raises EnvironmentUnfit for what cannot be one."""
    try:
        directory = Path(workspace).resolve()
        if directory.exists() and not directory.is_dir():
            wrong = "it is a file"
        else:
            wrong = None
    except (OSError, ValueError) as error:
        directory, wrong = Path(workspace), getattr(error, "strerror", None) or str(error)
    if wrong is not None:
        raise EnvironmentUnfit(f"{directory} cannot be a workspace: {wrong}", cure="Name another directory.")
    return directory


def is_workspace(workspace: str | Path) -> bool:
    """Whether there is a workspace already."""
    return (Path(workspace) / DATABASE).exists()


def home_directory() -> Path:
    """The user's home. Some containers run as a user who has none."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise EnvironmentUnfit("this user has no home directory", cure="Set HOME to one.") from error


def user_file() -> Path:
    """Where the user's own settings are, or would be."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(home_directory() / ".config")
    return Path(home) / "blendwright" / SETTINGS

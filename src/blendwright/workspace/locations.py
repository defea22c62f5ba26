"""The paths of workspaces and settings. This module loads none of the code that works there."""

from __future__ import annotations

import os
from pathlib import Path

from blendwright.journal.file_modes import DATABASE
from blendwright.values.errors import EnvironmentUnfit

SETTINGS = "blendwright.toml"


def workspace_directory(workspace: str | Path) -> Path:
    """Return the absolute directory of a workspace, which may not exist yet.

    Raise EnvironmentUnfit when the path cannot be a directory.
    """
    try:
        directory = Path(workspace).resolve()
        if directory.exists() and not directory.is_dir():
            problem = "it is a file"
        else:
            problem = None
    except (OSError, ValueError) as error:
        directory, problem = Path(workspace), getattr(error, "strerror", None) or str(error)
    if problem is not None:
        raise EnvironmentUnfit(f"{directory} cannot be a workspace: {problem}", cure="Name another directory.")
    return directory


def is_workspace(workspace: str | Path) -> bool:
    """Return whether the directory is a workspace already."""
    return (Path(workspace) / DATABASE).exists()


def home_directory() -> Path:
    """Return the user's home directory. Raise EnvironmentUnfit when the user has none, as in some containers."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise EnvironmentUnfit("this user has no home directory", cure="Set HOME to a directory.") from error


def user_file() -> Path:
    """Return the path of the user's own settings, which may not exist."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(home_directory() / ".config")
    return Path(home) / "blendwright" / SETTINGS

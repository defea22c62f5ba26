"""Assets of the folders that a workspace's settings name, found without a Blender."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from blendwright.assets.entries import AssetEntry
from blendwright.assets.search import search
from blendwright.assets.supply import NO_LIBRARIES, library_supply
from blendwright.values.errors import EnvironmentUnfit
from blendwright.workspace.policy_files import load_policy


def find_assets(
    workspace: str | Path, words: str, *, kind: str | None = None, tags: Sequence[str] = (), license: str | None = None
) -> list[AssetEntry]:
    """The assets that fit, the best first. Raises EnvironmentUnfit where no folder is named."""
    libraries = library_supply(load_policy(Path(workspace).resolve()).policy).libraries
    if not libraries.directories:
        raise EnvironmentUnfit("there are no folders of assets", cure=NO_LIBRARIES)
    return search(libraries.entries(), words, kind=kind, tags=tags, license=license)

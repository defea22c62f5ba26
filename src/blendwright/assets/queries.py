"""A search in the asset folders of a workspace that needs no Blender."""

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
    """Return the matching assets, best match first. Raise EnvironmentUnfit if the settings name no asset folder."""
    libraries = library_supply(load_policy(Path(workspace).resolve()).policy).libraries
    if not libraries.directories:
        raise EnvironmentUnfit("blendwright.toml names no asset folders", cure=NO_LIBRARIES)
    return search(libraries.entries(), words, kind=kind, tags=tags, license=license)

"""The interface of the engine to the assets of a workspace. The package `assets` implements it; without that
package there are no assets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


class AssetSupply(Protocol):
    """The asset folders that a workspace may use, and the files that asset tools request."""

    @property
    def folders(self) -> Collection[Path]:
        """The folders, with links resolved."""
        ...

    def place(self, asset: str) -> Path | None:
        """Return the path of the asset `library/file`, or None if no library has that name."""
        ...

    def holds(self, path: Path) -> bool:
        """Return True if the path is in one of the folders."""
        ...

    def supply(self, role: str, argument: str, args: Mapping[str, Any], directory: Path) -> str:
        """Write the requested data into a directory of the worker and return its path. Raises Refusal."""
        ...


class NoAssets:
    """An asset supply without folders."""

    folders: Collection[Path] = ()

    def place(self, asset: str) -> Path | None:
        return None

    def holds(self, path: Path) -> bool:
        return False

    def supply(self, role: str, argument: str, args: Mapping[str, Any], directory: Path) -> str:
        cure = "Install Blendwright with its package 'assets'."
        raise Refusal(
            [Finding(Fault.TARGET_NOT_FOUND, "this installation has no asset libraries", f"/{argument}", cure)]
        )


NO_ASSETS: AssetSupply = NoAssets()

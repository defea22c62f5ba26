"""What the engine needs of the assets of a workspace. The package `assets` supplies them; without it there are none."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


class AssetSupply(Protocol):
    """The folders of assets that a workspace may use, and what the asset tools ask for."""

    @property
    def folders(self) -> Collection[Path]:
        """The folders, without links."""
        ...

    def place(self, asset: str) -> Path | None:
        """Return the path of an asset that is named `library/file`; None if no library has that name."""
        ...

    def holds(self, path: Path) -> bool:
        """Whether the path is in one of the folders."""
        ...

    def supply(self, role: str, argument: str, args: Mapping[str, Any], directory: Path) -> str:
        """Write what a call asks for into a directory of the worker and return its path. Raises Refusal."""
        ...


class NoAssets:
    """A workspace without folders of assets."""

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

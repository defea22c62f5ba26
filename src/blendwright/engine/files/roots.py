"""The directories where calls may read and write: the policy's roots, without the workspace's own files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from blendwright.engine.files.resolved_paths import without_links
from blendwright.journal.file_modes import OWN
from blendwright.policy.policy import Verdict, lies_in, nearest_root
from blendwright.values.errors import EnvironmentUnfit


class FileRoots:
    """The roots with their verdicts. The innermost root of a path counts."""

    def __init__(
        self, roots: Mapping[str, Verdict], workspace: Path | None = None, assets: Collection[Path] = ()
    ) -> None:
        """Initialize the roots. No root opens `workspace`, the directory with the journal.

        `assets` are folders without links, which calls may read but not write.
        """
        self.assets = tuple(assets)
        self.roots = {_root(root): verdict for root, verdict in roots.items()}
        if workspace is None:
            self.workspace = None
            stored_paths: list[Path] = []
        else:
            self.workspace = workspace.resolve()
            stored_paths = [self.workspace / name for name in OWN]
        # Stored files may be links to other directories.
        self._stored_paths = frozenset(stored_paths) | {path.resolve() for path in stored_paths if path.is_symlink()}

    def rule(self, path: Path) -> tuple[str, Verdict] | None:
        """Return the root of a path without links, with its verdict, or None when no root contains the path."""
        return nearest_root(self.roots, path)

    def allows(self, path: Path, *verdicts: Verdict) -> bool:
        """Return True if the root of a path without links has one of these verdicts, and the path is not the
        workspace's own.
        """
        root = self.rule(path)
        return root is not None and root[1] in verdicts and not self.is_own(path)

    def asset_folder(self, path: Path) -> Path | None:
        """Return the asset folder that contains a path without links, or None."""
        for folder in self.assets:
            if path.is_relative_to(folder):
                return folder
        return None

    def is_own(self, path: Path) -> bool:
        """Return True if a path belongs to the workspace itself.

        The whole workspace directory does, unless a root is that directory or lies in it. Then only Blendwright's
        stored files do.
        """
        if self.workspace is None:
            return False
        root = self.rule(path)
        workspace = str(self.workspace)
        if lies_in(path, workspace) and (root is None or not lies_in(Path(root[0]), workspace)):
            return True
        return not self._stored_paths.isdisjoint((path, *path.parents))


def _root(name: str) -> str:
    try:
        return str(without_links(Path(name).expanduser()))
    except (OSError, RuntimeError, ValueError) as error:
        message = f"the policy has an impossible directory as root, {name!r}: {error}"
        raise EnvironmentUnfit(message, cure="Correct the path in blendwright.toml.") from error

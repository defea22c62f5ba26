"""Where calls may read and write: the roots of the policy, and what belongs to the workspace itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from blendwright.engine.files.resolved_paths import without_links
from blendwright.journal.file_modes import OWN
from blendwright.policy.policy import Verdict, lies_in, nearest_root
from blendwright.values.errors import EnvironmentUnfit


class FileRoots:
    """The roots with what the policy says of them; of several that hold a path, the innermost counts."""

    def __init__(
        self, roots: Mapping[str, Verdict], workspace: Path | None = None, assets: Collection[Path] = ()
    ) -> None:
        """`workspace` is the directory with the journal, which no root opens to calls; `assets` are folders without links that are
        read and never written to."""
        self.assets = tuple(assets)
        self.roots = {_root(root): verdict for root, verdict in roots.items()}
        if workspace is None:
            self.workspace = None
        else:
            self.workspace = workspace.resolve()
        if self.workspace is None:
            own = ()
        else:
            own = [self.workspace / name for name in OWN]
        # What the program stores may lie elsewhere, behind a link.
        self._own = frozenset(own) | {path.resolve() for path in own if path.is_symlink()}

    def rule(self, path: Path) -> tuple[str, Verdict] | None:
        """The root that decides about a path without links, and what the policy says of it."""
        return nearest_root(self.roots, path)

    def allows(self, path: Path, *verdicts: Verdict) -> bool:
        """Whether the root of a path without links has one of these verdicts, and the path is not the workspace's own."""
        root = self.rule(path)
        return root is not None and root[1] in verdicts and not self.is_own(path)

    def asset_folder(self, path: Path) -> Path | None:
        """The folder of assets that a path without links lies in."""
        return next((folder for folder in self.assets if path.is_relative_to(folder)), None)

    def is_own(self, path: Path) -> bool:
        """Whether a path belongs to the workspace: all of its directory does, but where a root is that directory, or lies in it,
        somebody works there, and only what the program stores is its own."""
        if self.workspace is None:
            return False
        root = self.rule(path)
        workspace = str(self.workspace)
        if lies_in(path, workspace) and (root is None or not lies_in(Path(root[0]), workspace)):
            return True
        return not self._own.isdisjoint((path, *path.parents))


def _root(name: str) -> str:
    try:
        return str(without_links(Path(name).expanduser()))
    except (OSError, RuntimeError, ValueError) as error:
        message = f"the policy names a directory that cannot be, {name!r}: {error}"
        raise EnvironmentUnfit(message, cure="Correct it in blendwright.toml.") from error

"""Modules that Blender imports at its start and a worker never uses. They load at their first use instead.

Blender 5.2 looks for leftover downloads of remote asset libraries. It loads a whole HTTP client for this, which takes a fifth of
its start.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType

# Full names of the modules.
LATE = frozenset({"_bpy_internal.assets.remote_library.listing_downloader"})


class _LateFinder(importlib.abc.MetaPathFinder):
    """A finder that wraps the loader of these modules, so that they run at their first use."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in LATE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def load_late() -> None:
    """Install the finder. Call this before Blender is imported."""
    sys.meta_path.insert(0, _LateFinder())

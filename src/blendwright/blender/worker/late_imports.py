"""Modules that Blender imports when it starts and that a worker never uses: they are loaded when somebody does.

Blender 5.2 looks for leftovers of downloads of remote asset libraries, and loads a whole HTTP client for it, which takes a fifth of
its start.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType

LATE = frozenset({"_bpy_internal.assets.remote_library.listing_downloader"})


class _LateFinder(importlib.abc.MetaPathFinder):
    """Finds these modules as everybody does, and has them run at their first use."""

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
    """Before Blender is imported."""
    sys.meta_path.insert(0, _LateFinder())

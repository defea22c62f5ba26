"""Imports everything outside `blender/` in an interpreter that has no bpy: the core must work on a machine without Blender."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import blendwright

ABSENT = {"bpy", "bmesh", "mathutils", "numpy"}


class NoBlender(MetaPathFinder):
    """Makes what comes with Blender impossible to import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {fullname!r}, on purpose", name=fullname)
        return None


def main() -> int:
    sys.meta_path.insert(0, NoBlender())
    count = 0
    for module in pkgutil.walk_packages(blendwright.__path__, "blendwright.", onerror=_stop):
        if not module.name.startswith("blendwright.blender"):
            importlib.import_module(module.name)
            count += 1
    print(f"{count} modules import without Blender")
    return 0


def _stop(name: str) -> None:
    raise ImportError(name)


if __name__ == "__main__":
    sys.exit(main())

"""Imports everything outside `blender/` in an interpreter that has no bpy: the core must work on a machine without Blender."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Sequence
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


def modules() -> Iterator[str]:
    """Every module outside `blender/`."""
    for part in pkgutil.iter_modules(blendwright.__path__, "blendwright."):
        if part.name == "blendwright.blender":
            continue
        yield part.name
        if part.ispkg:
            package = importlib.import_module(part.name)
            yield from (inner.name for inner in pkgutil.walk_packages(package.__path__, f"{part.name}."))


def main() -> int:
    sys.meta_path.insert(0, NoBlender())
    names = list(modules())
    for name in names:
        importlib.import_module(name)
    print(f"{len(names)} modules import without Blender")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Macros: several tool calls under one name, declared as JSON, checked when loaded, and expanded when a plan is
compiled.

A macro computes nothing: its steps are tools and other macros, and its inputs fill their arguments. This package runs
nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blendwright.macros.definition import REGISTRY_VERSION, Macro, macro_registry
    from blendwright.macros.loading import load_macros, package_macros

__all__ = ["FOLDER", "REGISTRY_VERSION", "Macro", "load_macros", "macro_registry", "package_macros"]

# Folder of a workspace's own macros.
FOLDER = "macros"
# Modules to import on first access, because few plans call macros.
_MODULES = {
    "REGISTRY_VERSION": "definition",
    "Macro": "definition",
    "load_macros": "loading",
    "macro_registry": "definition",
    "package_macros": "loading",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"blendwright.macros.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'blendwright.macros' has no attribute {name!r}")

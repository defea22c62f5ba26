"""Macros: several tool calls under one name, declared as JSON, checked when they are loaded, expanded when a plan is compiled.

A macro computes nothing: its steps are tools and other macros, its inputs are put into their arguments. Nothing here runs anything.
"""

from __future__ import annotations

from blendwright.macros.definition import REGISTRY_VERSION, Macro, macro_registry
from blendwright.macros.loading import load_macros, package_macros

__all__ = ["REGISTRY_VERSION", "Macro", "load_macros", "macro_registry", "package_macros"]

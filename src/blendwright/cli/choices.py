"""Choices that Tab offers for arguments (`autocompletion` of typer)."""

from __future__ import annotations

from blendwright.macros import package_macros
from blendwright.tools import catalog


def tool_names() -> list[str]:
    return sorted(catalog.tools())


def macro_names() -> list[str]:
    """Return the names of the bundled macros."""
    return sorted(package_macros())


def callable_names() -> list[str]:
    return sorted((*tool_names(), *macro_names()))

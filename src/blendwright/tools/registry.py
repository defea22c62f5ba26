"""What a set of tools promises, as hashes: two sides with the same ones mean the same by every name.

Making the schemas of the whole catalogue takes half a second, which every start of every process would pay. `registry_cache`
keeps their hashes by the hash of the sources that they were made from.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pydantic

import blendwright
from blendwright.policy.session_contract import Registry
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import registry_cache
from blendwright.values.canonical import digest

_PACKAGE = Path(blendwright.__file__).parent
# What a declaration can depend on: the packages that importing the catalogue imports.
SOURCES = ("values", "wire", "tool_api", "policy", "nodes", "tools")


@cache
def computed(tool: type[AnyTool]) -> str:
    """The hash of one tool's declaration, from the declaration itself."""
    return digest(tool.declaration())


def fingerprints(tools: Iterable[type[AnyTool]]) -> dict[str, str]:
    """The hash of every tool's declaration, by name."""
    cached = cached_hashes()
    ordered = sorted(set(tools), key=lambda tool: tool.name)
    shipped = {tool.name for tool in ordered if _is_of_its_file(tool)}
    hashes = {tool.name: (tool.name in shipped and cached.get(tool.name)) or computed(tool) for tool in ordered}
    if missing := shipped - cached.keys():
        cached.update((name, hashes[name]) for name in missing)
        registry_cache.store(registry_cache.user_directory(), sources(), cached)
    return hashes


def registry_fingerprint(tools: Iterable[type[AnyTool]]) -> str:
    """One hash over all of them."""
    return digest(fingerprints(tools))


def tool_registry(tools: Iterable[AnyTool]) -> Registry:
    """The reference of a catalogue for a contract."""
    entries = fingerprints(type(tool) for tool in tools)
    return Registry(version="1", fingerprint=digest(entries), entries=entries)


def hand_over(directory: Path) -> None:
    """Give a process that cannot see the user's cache directory a cache of its own there, with what is known here."""
    if cached := cached_hashes():
        registry_cache.store(directory / "blendwright", sources(), cached)


@cache
def sources() -> str:
    """A hash over everything that declarations are made from."""
    content = hashlib.sha256(pydantic.VERSION.encode())
    for part in SOURCES:
        for folder, folders, files in os.walk(_PACKAGE / part):
            folders.sort()
            for name in sorted(files):
                if name.endswith(".py"):
                    path = f"{folder}/{name}"
                    content.update(f"\0{path[len(str(_PACKAGE)) :]}\0".encode())
                    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 (pathlib doubles the time)
                        content.update(file.read())
    return content.hexdigest()


def _is_of_its_file(tool: type[AnyTool]) -> bool:
    """Whether it is the class that a source of ours defines, and not one that was made from it or after it."""
    module = tool.__module__
    return module.startswith(f"{__package__}.") and getattr(sys.modules[module], tool.__name__, None) is tool


@cache
def cached_hashes() -> dict[str, str]:
    """The hashes that are known of these very sources: those of the user's cache, and what was computed since."""
    return dict(registry_cache.load(registry_cache.user_directory(), sources()))

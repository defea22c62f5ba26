"""Hashes of tool declarations. If two processes have equal hashes, their tools have the same meaning under every name.

Building the schemas of the whole catalogue takes half a second, which every start of every process would pay. `registry_cache`
therefore stores the hashes under the hash of the source files that they depend on.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from blendwright.tools import registry_cache
from blendwright.tools.lazy_tools import LazyTools
from blendwright.util.canonical import digest
from blendwright.wire.package_version import package_hash

if TYPE_CHECKING:
    from blendwright.policy.session_contract import Registry
    from blendwright.tool_api.tool import AnyTool


@cache
def computed(tool: type[AnyTool]) -> str:
    """Return the hash of one tool's declaration without using a cache."""
    return digest(tool.declaration())


def fingerprints(tools: Mapping[str, AnyTool]) -> dict[str, str]:
    """Return the hash of every tool's declaration by name. Load a tool of the catalogue only if its hash is not cached."""
    from_catalog = frozenset[str]()
    cached: dict[str, str] = {}
    if isinstance(tools, LazyTools):
        from_catalog = tools.from_catalog
        cached = cached_hashes()
    hashes: dict[str, str] = {}
    for name in sorted(tools):
        if name in from_catalog and name in cached:
            hashes[name] = cached[name]
        else:
            hashes[name] = computed(tools[name].__class__)

    missing = from_catalog - cached.keys()
    if missing:
        cached.update((name, hashes[name]) for name in missing)
        registry_cache.store(registry_cache.user_directory(), sources(), cached)
    return hashes


def registry_fingerprint(tools: Mapping[str, AnyTool]) -> str:
    """Return one hash over the declarations of all tools."""
    return digest(fingerprints(tools))


def tool_registry(tools: Mapping[str, AnyTool]) -> Registry:
    """Return the catalogue's entry for a session contract. Only the core makes contracts, so workers do not import their models."""
    from blendwright.policy.session_contract import Registry

    entries = fingerprints(tools)
    return Registry(version="1", fingerprint=digest(entries), entries=entries)


def hand_over(directory: Path) -> None:
    """Write the known hashes into a worker's own cache directory, because a worker cannot see the user's cache.

    The entry's key is the hash of our own sources alone. A worker with the same sources has the same declarations, although it
    may use another version of pydantic, which builds their schemas.
    """
    cached = cached_hashes()
    if cached:
        registry_cache.store(directory / "blendwright", _worker_key(), cached)


@cache
def sources() -> str:
    """Return a hash over everything that declarations depend on: pydantic's version and our own sources."""
    return digest([_pydantic_version(), package_hash()])


def _pydantic_version() -> str:
    """Return the version of pydantic without importing pydantic."""
    loaded = sys.modules.get("pydantic")
    if loaded is not None:
        return loaded.VERSION
    from importlib import metadata

    return metadata.version("pydantic")


@cache
def cached_hashes() -> dict[str, str]:
    """Return the cached hashes for the present sources. The dictionary is shared: callers add hashes that they compute."""
    directory = registry_cache.user_directory()
    return dict(registry_cache.load(directory, _worker_key()) or registry_cache.load(directory, sources()))


def _worker_key() -> str:
    return f"of the core, {package_hash()}"

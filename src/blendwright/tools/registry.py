"""What a set of tools promises, as hashes: two sides with the same ones mean the same by every name.

Making the schemas of the whole catalogue takes half a second, which every start of every process would pay. `registry_cache`
keeps their hashes by the hash of the sources that they were made from.
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
    """The hash of one tool's declaration, from the declaration itself."""
    return digest(tool.declaration())


def fingerprints(tools: Mapping[str, AnyTool]) -> dict[str, str]:
    """Return the hash of every tool's declaration, by name. A tool of the catalogue is loaded only where its hash is not known."""
    from_catalog = tools.from_catalog if isinstance(tools, LazyTools) else frozenset[str]()
    known = cached_hashes() if from_catalog else {}
    hashes: dict[str, str] = {}
    for name in sorted(tools):
        hashes[name] = known[name] if name in from_catalog and name in known else computed(tools[name].__class__)

    missing = from_catalog - known.keys()
    if missing:
        known.update((name, hashes[name]) for name in missing)
        registry_cache.store(registry_cache.user_directory(), sources(), known)
    return hashes


def registry_fingerprint(tools: Mapping[str, AnyTool]) -> str:
    """Return one hash over all of them."""
    return digest(fingerprints(tools))


def tool_registry(tools: Mapping[str, AnyTool]) -> Registry:
    """Return the reference of a catalogue for a contract. Only the core makes contracts: their models stay out of workers."""
    from blendwright.policy.session_contract import Registry

    entries = fingerprints(tools)
    return Registry(version="1", fingerprint=digest(entries), entries=entries)


def hand_over(directory: Path) -> None:
    """Give a worker, which cannot see the user's cache directory, a cache of its own there, with what is known here.

    It is found by the hash of our own sources alone: a worker with the same ones has the same declarations, while its pydantic,
    which makes their schemas, may be another version.
    """
    if cached := cached_hashes():
        registry_cache.store(directory / "blendwright", _handed_over(), cached)


@cache
def sources() -> str:
    """A hash over everything that declarations are made from."""
    return digest([_pydantic_version(), package_hash()])


def _pydantic_version() -> str:
    """It is not loaded for that."""
    loaded = sys.modules.get("pydantic")
    if loaded is not None:
        return loaded.VERSION
    from importlib import metadata

    return metadata.version("pydantic")


@cache
def cached_hashes() -> dict[str, str]:
    """The hashes that are known of these very sources: those of the user's cache, and what was computed since."""
    directory = registry_cache.user_directory()
    return dict(registry_cache.load(directory, _handed_over()) or registry_cache.load(directory, sources()))


def _handed_over() -> str:
    return f"of the core, {package_hash()}"

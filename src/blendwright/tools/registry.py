"""What a set of tools promises, as hashes: two sides with the same ones mean the same by every name.

Making the schemas of the whole catalogue takes half a second, which every start of every process would pay. `registry_cache`
keeps their hashes by the hash of the sources that they were made from.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from blendwright.tools import registry_cache
from blendwright.util.canonical import digest
from blendwright.wire.package_version import package_hash

if TYPE_CHECKING:
    from blendwright.policy.session_contract import Registry
    from blendwright.tool_api.tool import AnyTool


@cache
def computed(tool: type[AnyTool]) -> str:
    """The hash of one tool's declaration, from the declaration itself."""
    return digest(tool.declaration())


def fingerprints(tools: Iterable[AnyTool]) -> dict[str, str]:
    """The hash of every tool's declaration, by name. A tool that is not loaded yet is loaded only where its hash is not known."""
    # Not above: whoever starts a worker hands over hashes, and loads no tool for it.
    from blendwright.tools.on_demand import is_loaded, name_of

    cached = cached_hashes()
    by_name = {name_of(tool): tool for tool in sorted(tools, key=name_of)}
    shipped = {name for name, tool in by_name.items() if not is_loaded(tool) or _is_of_its_file(tool.__class__)}
    hashes = {
        name: (name in shipped and cached.get(name)) or computed(tool.__class__) for name, tool in by_name.items()
    }
    if missing := shipped - cached.keys():
        cached.update((name, hashes[name]) for name in missing)
        registry_cache.store(registry_cache.user_directory(), sources(), cached)
    return hashes


def registry_fingerprint(tools: Iterable[AnyTool]) -> str:
    """One hash over all of them."""
    return digest(fingerprints(tools))


def tool_registry(tools: Iterable[AnyTool]) -> Registry:
    """The reference of a catalogue for a contract. Only the core makes contracts: their models stay out of workers."""
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


def _is_of_its_file(tool: type[AnyTool]) -> bool:
    """Whether it is the class that a source of ours defines, and not one that was made from it or after it."""
    module = tool.__module__
    return module.startswith(f"{__package__}.") and getattr(sys.modules[module], tool.__name__, None) is tool


@cache
def cached_hashes() -> dict[str, str]:
    """The hashes that are known of these very sources: those of the user's cache, and what was computed since."""
    directory = registry_cache.user_directory()
    return dict(registry_cache.load(directory, _handed_over()) or registry_cache.load(directory, sources()))


def _handed_over() -> str:
    return f"of the core, {package_hash()}"

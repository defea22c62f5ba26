"""What a set of tools promises, as hashes: two sides with the same ones mean the same by every name.

Making the schemas of the whole catalogue takes a third of a second, at every start of every process. Their hashes are therefore
recorded beside the tools, and hold only as long as the sources that they were made from are the ones that are here; of anything
else they are computed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pydantic

import blendwright
from blendwright.policy.session_contract import Registry
from blendwright.tool_api.tool import AnyTool
from blendwright.values.canonical import digest

RECORDED = Path(__file__).with_name("recorded.json")

_PACKAGE = Path(blendwright.__file__).parent
# What a declaration can depend on.
_PARTS = ("values", "contracts", "nodes", "tools")


def fingerprint(tool: type[AnyTool]) -> str:
    """The hash of one tool's declaration."""
    return (recorded().get(tool.name) if _is_of_its_file(tool) else None) or computed(tool)


@cache
def computed(tool: type[AnyTool]) -> str:
    """The hash, from the declaration itself."""
    return digest(tool.declaration())


def fingerprints(tools: Iterable[type[AnyTool]]) -> dict[str, str]:
    """The hash of every tool, by name."""
    return {tool.name: fingerprint(tool) for tool in sorted(set(tools), key=lambda tool: tool.name)}


def registry_fingerprint(tools: Iterable[type[AnyTool]]) -> str:
    """One hash over all of them."""
    return digest(fingerprints(tools))


def tool_registry(tools: Iterable[AnyTool]) -> Registry:
    """The reference of a catalogue for a contract."""
    entries = fingerprints(type(tool) for tool in tools)
    return Registry(version="1", fingerprint=digest(entries), entries=entries)


def sources() -> str:
    """A hash over everything that declarations are made from."""
    found = hashlib.sha256(pydantic.VERSION.encode())
    for part in _PARTS:
        for path in sorted((_PACKAGE / part).rglob("*.py")):
            found.update(f"\0{path.relative_to(_PACKAGE).as_posix()}\0".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def _is_of_its_file(tool: type[AnyTool]) -> bool:
    """Whether it is the class that a source of ours defines, and not one that was made from it or after it."""
    module = tool.__module__
    return module.startswith(f"{__package__}.") and getattr(sys.modules[module], tool.__name__, None) is tool


@cache
def recorded() -> Mapping[str, str]:
    """The hashes that were recorded of these very sources; nothing when there are none."""
    try:
        record = json.loads(RECORDED.read_bytes())
        return record["tools"] if record["sources"] == sources() else {}
    except (OSError, ValueError, LookupError, TypeError):
        return {}  # lost or damaged, it costs time only

"""The list of all tools. Explicit, so that what is offered is what is written here; a test notices a file that is not on it."""

from __future__ import annotations

from functools import cache

from blendwright.contracts.tool import AnyTool, registry_fingerprint
from blendwright.tools.mesh.create_primitive import CreatePrimitive
from blendwright.tools.object.create_empty import CreateEmpty
from blendwright.tools.object.delete import DeleteObject

CATALOG: tuple[type[AnyTool], ...] = (
    # mesh
    CreatePrimitive,
    # object
    CreateEmpty,
    DeleteObject,
)


@cache
def tools() -> dict[str, AnyTool]:
    """Every tool by name."""
    return {tool.name: tool() for tool in sorted(CATALOG, key=lambda tool: tool.name)}


@cache
def fingerprint() -> str:
    """One hash over everything the catalogue promises."""
    return registry_fingerprint(CATALOG)

"""What sessions are made of, for tests of contracts: a Blender that need not run, tools with some promises changed, a contract."""

from __future__ import annotations

from functools import cache
from types import new_class
from typing import Any

from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Negotiation, Proposal, Registry, SessionContract, negotiate, registry
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.tools.registry import tool_registry
from blendwright.values.findings import Finding
from blendwright.wire.blender_profile import BlenderProfile

TOOL = catalog.tools()["object.create_empty"]
ARGS: Any = TOOL.args_model.model_validate({"name": "Pivot"})
NO_MACROS = registry("1", {})


def blender(version: tuple[int, int, int] = (5, 0, 1), *, background: bool = True) -> BlenderProfile:
    return BlenderProfile(
        version=version,
        version_string=".".join(map(str, version)),
        build_hash="0",
        platform="linux-x86_64",
        background=background,
        engines=("CYCLES",),
        features={"memfile_undo": True, "node_warnings": True},
        name_bytes=255,
        confinement={"level": "full"},
        python="3.11",
    )


def changed(**declarations: Any) -> AnyTool:
    """A tool with some promises changed, of a class of its own."""
    body = {name: staticmethod(value) if callable(value) else value for name, value in declarations.items()}
    return new_class("Changed", (type(TOOL),), {"family": True}, lambda namespace: namespace.update(body))()


@cache
def tools() -> Registry:
    return tool_registry(catalog.tools())


def negotiation(**parts: Any) -> Negotiation:
    given: dict[str, Any] = {
        "session_id": "session",
        "proposal": Proposal(),
        "policy": Policy(),
        "blender": blender(),
        "tool_registry": tools(),
        "macro_registry": NO_MACROS,
    }
    return Negotiation(**(given | parts))


def agreed(**parts: Any) -> SessionContract:
    made = negotiate(negotiation(**parts))
    assert isinstance(made, SessionContract), made
    return made


def objections(**parts: Any) -> tuple[Finding, ...]:
    made = negotiate(negotiation(**parts))
    assert isinstance(made, tuple), "a contract was made"
    return made

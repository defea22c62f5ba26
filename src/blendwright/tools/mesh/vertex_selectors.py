"""Checks of mesh.edit selectors in tools without a list of operations."""

from __future__ import annotations

from blendwright.tool_api import Block, Findings
from blendwright.tools.checks import invalid
from blendwright.tools.mesh.selectors import LAST, Selector, names_used, selector_parts
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def selector_problems(selector: Selector, at: str) -> Findings:
    """Yield findings for references to earlier selections or operations, which these tools do not have."""
    for name, pointer in names_used(selector, at):
        yield invalid(
            f"'{name}' is not a selection: this tool has no earlier operations",
            pointer,
            "Use all, boundary, loose, or criteria.",
        )
    for part, pointer in selector_parts(selector, at):
        if isinstance(part, str):
            words = [part]
        else:
            words = [part.inside, part.outside]
        if LAST in words:
            yield invalid(
                "'last' has no meaning here: this tool has no earlier operations",
                pointer,
                "Select by criteria, or 'all'.",
            )


def missing_materials(obj: Block, selector: Selector, at: str) -> Findings:
    """Yield findings for materials that a selector names and the object does not have."""
    material_names = {slot.material.name for slot in obj.material_slots if slot.material is not None}
    for part, pointer in selector_parts(selector, at):
        if isinstance(part, str) or part.material is None:
            continue
        if part.material not in material_names:
            names = ", ".join(sorted(material_names)) or "none"
            message = f"'{obj.name}' has no material '{part.material}'; it has {names}"
            yield Finding(Fault.TARGET_NOT_FOUND, message, f"{pointer}/material", "Select by an existing material.")

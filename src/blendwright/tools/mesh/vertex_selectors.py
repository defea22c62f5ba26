"""Selectors of mesh.edit where there is no list of operations: what may not be said then."""

from __future__ import annotations

from blendwright.tool_api import Block, Findings
from blendwright.tools.checks import invalid
from blendwright.tools.mesh.selectors import LAST, Selector, names_used, selector_parts
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def selector_problems(selector: Selector, at: str) -> Findings:
    """Earlier selections that a selector names, where there are none."""
    for name, place in names_used(selector, at):
        yield invalid(f"there is no earlier selection '{name}'", place, "Use all, boundary, loose, or criteria.")
    for part, place in selector_parts(selector, at):
        if isinstance(part, str):
            words = [part]
        else:
            words = [part.inside, part.outside]
        if LAST in words:
            yield invalid("there is no operation before this one", place, "Select by criteria, or 'all'.")


def missing_materials(obj: Block, selector: Selector, at: str) -> Findings:
    """Materials that a selector names and the object does not have."""
    known = {slot.material.name for slot in obj.material_slots if slot.material is not None}
    for part, place in selector_parts(selector, at):
        if isinstance(part, str):
            material = None
        else:
            material = part.material
        if material is not None and material not in known:
            listed = ", ".join(sorted(known)) or "none"
            message = f"'{obj.name}' has no material '{material}'; it has {listed}"
            yield Finding(Fault.TARGET_NOT_FOUND, message, f"{place}/material", "Select by a material that it has.")

"""What a plan uses and a person has just changed by hand in the open window: whoever wrote the plan did not know of it."""

from __future__ import annotations

from collections.abc import Mapping

from blendwright.plan.implied_order import imply_order
from blendwright.plan.validate import ValidPlan
from blendwright.tool_api.tool import AnyTool
from blendwright.values.faults import Fault
from blendwright.values.findings import MOST_FINDINGS, Finding

CURE = "Look at the scene as it is now, and send the plan again; it then runs on what the person made."


def edited_uses(
    edited: frozenset[tuple[str, str]], valid: ValidPlan, tools: Mapping[str, AnyTool]
) -> tuple[Finding, ...]:
    """A finding for each use of a datablock that the person changed since the last plan, by kind and name.

    The edit itself is in the journal by then, so the same plan is not refused again."""
    implied = valid.implied or imply_order(valid.graph, tools, valid.plan.tie_break)
    found: list[Finding] = []
    for operation, mention in implied.taken_for_granted:
        if (mention.kind, mention.name) in edited:
            message = f"'{mention.name}' was changed by hand since the last plan"
            found.append(operation.in_arguments(Finding(Fault.SCENE_CONFLICT, message, mention.at, CURE)))
    return tuple(dict.fromkeys(found))[:MOST_FINDINGS]

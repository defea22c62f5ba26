"""Plans checked against all that is known without Blender: tools, and the macros and the policy of a workspace, which need not exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blendwright.app.opening import place_of
from blendwright.app.policy_files import load_policy
from blendwright.contracts.contract import Proposal
from blendwright.contracts.gate import whatever_blender
from blendwright.contracts.tool import AnyTool
from blendwright.macros import load_macros, macro_registry
from blendwright.plan.validate import ValidPlan, validate
from blendwright.run.agreement import Offer, payload_bytes
from blendwright.run.files import FileAccess
from blendwright.run.runner import POLICY
from blendwright.tools import catalog
from blendwright.values.findings import Finding
from blendwright.values.plan import Operation, Plan


def check(plan: Plan, workspace: str | Path, proposal: Proposal | None = None) -> ValidPlan | tuple[Finding, ...]:
    """The valid plan, or all findings. What Blender alone knows is not among them, nor whom the policy would ask.

    Raises Refusal when the policy or a macro of the workspace is not sound."""
    place, tools = place_of(workspace), catalog.tools()
    policy = load_policy(place).policy
    macros = load_macros(place, tools)
    terms = Offer(tools.values(), proposal=proposal, policy=policy, macros=macro_registry(macros.values())).terms

    files = FileAccess(terms.constraints.rules.roots, place / "artifacts")

    def objections(operation: Operation, tool: AnyTool, args: Mapping[str, Any], model: Any) -> Iterator[Finding]:
        level = operation.safety_level or tool.safety_level.value
        for finding in whatever_blender(terms, tool, model, level, payload_bytes(args)):
            yield operation.as_a_whole(finding)
        _, found = files.normalised(tool, dict(args))
        yield from (operation.in_arguments(finding) for finding in found if finding.fault in POLICY)

    return validate(plan, tools, terms, macros=macros, objections=objections)

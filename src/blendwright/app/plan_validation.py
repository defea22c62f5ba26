"""Plans checked against all that is known without Blender: tools, and the macros and the policy of a workspace, which need not exist."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from blendwright.app.opening import place_of
from blendwright.app.policy_files import load_policy
from blendwright.macros import Macro, load_macros
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.objections import Stage
from blendwright.policy.session_contract import Proposal, agree
from blendwright.run.files import FileAccess
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.values.findings import Finding
from blendwright.values.plan import Plan


def check(
    plan: Plan,
    workspace: str | Path,
    proposal: Proposal | None = None,
    *,
    tools: Mapping[str, AnyTool] | None = None,
    macros: Mapping[str, Macro] | None = None,
    roots: bool = True,
) -> ValidPlan | tuple[Finding, ...]:
    """The valid plan, or all findings. What Blender alone knows is not among them, nor what the policy would ask a person.

    `tools` and `macros` are for those who have them loaded. `roots` says whether those of the policy hold: a server may be given others.
    Raises Refusal when the policy or a macro of the workspace is not sound, or there can be no contract under them."""
    place = place_of(workspace)
    known = catalog.tools() if tools is None else tools
    terms = agree(proposal or Proposal(), load_policy(place).policy)
    if isinstance(terms, tuple):
        raise Refusal(terms)
    files = FileAccess(terms.constraints.rules.roots, place / "artifacts", workspace=place)

    expanding = load_macros(place, known) if macros is None else macros
    return validate(
        plan, known, terms, expanding, stage=Stage.ARGUMENTS, path_findings=files.path_findings if roots else None
    )

"""Documents checked as far as that goes without Blender: a plan under the policy and with the macros of a workspace, or a result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blendwright.dialects import registry
from blendwright.dialects.dialect import Surroundings
from blendwright.dialects.program import yielded_document
from blendwright.engine.files.roots import FileRoots
from blendwright.macros import FOLDER as OWN_MACROS
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.objections import PathFindings, Stage
from blendwright.policy.session_contract import ContractTerms, Proposal, agree
from blendwright.schemas.json_reader import read_json
from blendwright.tool_api.arguments import file_arguments
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Plan
from blendwright.workspace.locations import workspace_directory
from blendwright.workspace.names.port import findings_about
from blendwright.workspace.names.unresolved import Granted, granted_by_refused, granted_by_valid
from blendwright.workspace.policy_files import load_policy

if TYPE_CHECKING:
    from blendwright.engine.files.access import FileAccess
    from blendwright.macros import Macro
    from blendwright.values.report import RunReport


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
    directory = workspace_directory(workspace)
    if tools is None:
        registered = catalog.tools()
    else:
        registered = tools
    terms = agree(proposal or Proposal(), load_policy(directory).policy)
    if isinstance(terms, tuple):
        raise Refusal(terms)
    if macros is None:
        expanding = _macros_for(plan, directory, registered)
    else:
        expanding = macros
    if roots:
        in_roots = _path_findings(terms, directory)
    else:
        in_roots = None
    return validate(plan, registered, terms, expanding, stage=Stage.ARGUMENTS, path_findings=in_roots)


def _macros_for(plan: Plan, directory: Path, tools: Mapping[str, AnyTool]) -> Mapping[str, Macro]:
    """Those of a workspace are read whatever the plan calls, since they must be sound; those that come along, where it calls what is no
    tool."""
    if not (directory / OWN_MACROS).is_dir() and all(operation.tool in tools for operation in plan.operations):
        return {}
    from blendwright.macros import load_macros

    return load_macros(directory, tools)


def _path_findings(terms: ContractTerms, directory: Path) -> PathFindings:
    """What is wrong with the files that a call names. Few calls name any, and what judges them is loaded for those."""

    FileRoots(terms.constraints.rules.roots, directory)  # raises EnvironmentUnfit for roots that cannot be

    @cache
    def access() -> FileAccess:
        from blendwright.engine.files.access import FileAccess

        return FileAccess(terms.constraints.rules.roots, directory / "artifacts", workspace=directory)

    def findings(tool: AnyTool, args: dict[str, Any]) -> Iterable[Finding]:
        if file_arguments(tool.args_model):
            return access().path_findings(tool, args)
        return ()

    return findings


def refused_plan(text: Callable[[], bytes] | None, dialect: str | None, findings: Sequence[Finding]) -> RunReport:
    """The report of a plan that was refused with these findings before it was run, or before it was read."""
    from blendwright.plan.repair import refused

    plan = registry.unread_plan(dialect)
    with suppress(Refusal):
        if text is not None:
            plan = registry.read_plan(text(), dialect=dialect)
    return refused(plan, findings)


@dataclass(frozen=True, slots=True)
class Validation:
    """Everything that is wrong with a document. `about` says what it is, as far as that could be told, and how to repair it."""

    findings: tuple[Finding, ...]
    about: dict[str, Any] = field(default_factory=dict[str, Any])
    yielded: dict[str, Any] | None = None
    """The plan of operations that a program yields, where all is well with it."""

    def to_json(self) -> dict[str, Any]:
        listed = [finding.to_json() for finding in self.findings]
        return {"ok": not self.findings, "dialect": None, **self.about, "findings": listed}


def validate_plan(
    document: bytes | Mapping[str, Any],
    workspace: str | Path,
    *,
    dialect: str | None = None,
    proposal: Proposal | None = None,
    surroundings: Surroundings | None = None,
) -> Validation:
    """Check a plan, given as text or as a document. Raises Refusal when the policy or a macro of the workspace is not sound."""
    is_text = isinstance(document, bytes)
    if isinstance(document, bytes):
        document, findings = read_json(document)
        if findings:
            return Validation(findings)
    try:
        plan = registry.parse_plan(document, dialect=dialect, is_json=is_text, surroundings=surroundings)
    except Refusal as refusal:
        return Validation(refusal.findings)
    about: dict[str, Any] = {
        "dialect": plan.dialect,
        **(plan.remarks if plan.program is not None and plan.remarks else {}),
    }
    if plan.findings and not plan.operations:
        return Validation(plan.findings, about)
    registered = catalog.tools()
    macros = _macros_for(plan, workspace_directory(workspace), registered)
    valid = check(plan, workspace, proposal, tools=registered, macros=macros)
    is_valid = isinstance(valid, ValidPlan)
    if is_valid:
        granted = granted_by_valid(valid, registered)
    else:
        granted = granted_by_refused(plan, registered, macros)
    about["warnings"] = [finding.to_json() for finding in _missing_names(workspace, granted)]
    if isinstance(valid, ValidPlan):
        if plan.program is None:
            yielded = None
        else:
            yielded = yielded_document(valid.plan, plan)
        about["request_id"], about["operations"] = valid.plan.request_id, len(plan.operations)
        if valid.implied_by:
            about["implied_by"] = valid.implied_by
        about["warnings"] += [finding.to_json() for finding in valid.unrunnable.values()]
        return Validation((), about, yielded)
    from blendwright.plan.repair import minimal_repair

    about["repair"] = [entry.to_json() for entry in minimal_repair(plan, valid)]
    return Validation(valid, about)


def missing_names_beside(plan: Plan, workspace: str | Path) -> tuple[Finding, ...]:
    """What a plan that was refused uses besides, and neither it nor the scene has, as far as the journal tells."""
    tools = catalog.tools()
    macros = _macros_for(plan, workspace_directory(workspace), tools)
    return _missing_names(workspace, granted_by_refused(plan, tools, macros))


def _missing_names(workspace: str | Path, granted: Granted) -> tuple[Finding, ...]:
    """Return a finding for each name that the plan uses and neither it nor the journal's scene has."""
    if not granted.uses:
        return ()
    # Loads SQLite, which most plans that are only validated do not need.
    from blendwright.workspace.names.journal_names import JournalNames

    return findings_about(granted.uses, JournalNames(workspace_directory(workspace), granted.made))


def validate_result(text: bytes, *, dialect: str | None = None) -> Validation:
    """Check the result of a plan, in a dialect whose results have a contract that can be checked."""
    document, findings = read_json(text, any_value=True)
    if findings:
        return Validation(findings)
    contracts = {one.name: one.result_contract for one in registry.dialects() if one.result_contract is not None}
    name = dialect or next(iter(contracts))
    if name not in contracts:
        cure = f"Leave --dialect out, or say {' or '.join(contracts)}."
        message = f"results of {name} plans have no validator of their own"
        return Validation((Finding(Fault.SCHEMA_INVALID, message, "", cure),))
    about = {"dialect": name, "contract_version": contracts[name].version}
    return Validation(contracts[name].findings(document), about)

"""Validation without Blender: of plans under the policy and with the macros of a workspace, and of results."""

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
    """Return the valid plan, or all findings. This misses problems that only Blender knows, and questions of the
    policy to a person.

    A caller that has loaded `tools` and `macros` can pass them. With `roots` false, the check ignores the policy's
    roots, because a server may use others.

    Raise Refusal when the policy or a macro of the workspace is invalid, or no contract is possible under them.
    """
    directory = workspace_directory(workspace)
    if tools is None:
        registered = catalog.tools()
    else:
        registered = tools
    terms = agree(proposal or Proposal(), load_policy(directory).policy)
    if isinstance(terms, tuple):
        raise Refusal(terms)
    if macros is None:
        known_macros = _macros_for(plan, directory, registered)
    else:
        known_macros = macros
    if roots:
        path_findings = _path_findings(terms, directory)
    else:
        path_findings = None
    return validate(plan, registered, terms, known_macros, stage=Stage.ARGUMENTS, path_findings=path_findings)


def _macros_for(plan: Plan, directory: Path, tools: Mapping[str, AnyTool]) -> Mapping[str, Macro]:
    """Return the macros for a plan. Skip loading only if the workspace has no macros and the plan calls nothing but
    tools.

    The workspace's macros load for every plan, because they must be valid.
    """
    if not (directory / OWN_MACROS).is_dir() and all(operation.tool in tools for operation in plan.operations):
        return {}
    from blendwright.macros import load_macros

    return load_macros(directory, tools)


def _path_findings(terms: ContractTerms, directory: Path) -> PathFindings:
    """Return a check of the file arguments of a call.

    It loads its modules only for calls with file arguments, which are few.
    """

    FileRoots(terms.constraints.rules.roots, directory)  # raises EnvironmentUnfit for invalid roots

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
    """Return the report of a plan that was refused with these findings before it ran, or before it was readable."""
    from blendwright.plan.repair import refused

    plan = registry.unread_plan(dialect)
    with suppress(Refusal):
        if text is not None:
            plan = registry.read_plan(text(), dialect=dialect)
    return refused(plan, findings)


@dataclass(frozen=True, slots=True)
class Validation:
    """All problems of a document. `about` has its kind, as far as known, and hints to repair it."""

    findings: tuple[Finding, ...]
    about: dict[str, Any] = field(default_factory=dict[str, Any])
    yielded: dict[str, Any] | None = None
    """The plan of operations that a program yields, if it has no findings."""

    def to_json(self) -> dict[str, Any]:
        findings = [finding.to_json() for finding in self.findings]
        return {"ok": not self.findings, "dialect": None, **self.about, "findings": findings}


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
    about: dict[str, Any] = {"dialect": plan.dialect}
    if plan.program is not None and plan.remarks:
        about |= plan.remarks
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
    """Return findings for names that a refused plan uses and neither it nor the scene has, according to the journal."""
    tools = catalog.tools()
    macros = _macros_for(plan, workspace_directory(workspace), tools)
    return _missing_names(workspace, granted_by_refused(plan, tools, macros))


def _missing_names(workspace: str | Path, granted: Granted) -> tuple[Finding, ...]:
    """Return a finding for each name that the plan uses and neither it nor the journal's scene has."""
    if not granted.uses:
        return ()
    # Imported here, because it loads SQLite, which most validations do not need.
    from blendwright.workspace.names.journal_names import JournalNames

    return findings_about(granted.uses, JournalNames(workspace_directory(workspace), granted.made))


def validate_result(text: bytes, *, dialect: str | None = None) -> Validation:
    """Return the findings about the result of a plan, in a dialect whose results have a contract."""
    document, findings = read_json(text, any_value=True)
    if findings:
        return Validation(findings)
    contracts = {
        entry.name: entry.result_contract for entry in registry.dialects() if entry.result_contract is not None
    }
    name = dialect or next(iter(contracts))
    if name not in contracts:
        fix = f"Leave --dialect out, or give {' or '.join(contracts)}."
        message = f"results of {name} plans have no contract to check"
        return Validation((Finding(Fault.SCHEMA_INVALID, message, "", fix),))
    about = {"dialect": name, "contract_version": contracts[name].version}
    return Validation(contracts[name].findings(document), about)

"""blendwright validate: every finding of a plan, under the policy of a workspace, or of a result at once, without any Blender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from blendwright.app.checking import check
from blendwright.cli.consent import command_line
from blendwright.cli.output import AsJson, Exit, Workspace, console, print_json
from blendwright.cli.plan_input import InDialect, PlanFile, plan_text
from blendwright.dialects import registry
from blendwright.plan.repair import minimal_repair
from blendwright.plan.validate import ValidPlan
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.json_reader import read_json
from blendwright.values.plan import Plan


def validate(
    plan: PlanFile,
    result: Annotated[bool, typer.Option("--result", help="Check the result of a steps plan instead.")] = False,
    dialect: InDialect = None,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Check a plan, or the result of one, and list everything that is wrong with it."""
    document, findings = read_json(plan_text(plan), any_value=result)
    about: dict[str, Any] = {}
    if result:
        findings = findings or _result(document, dialect, about)
    elif not findings:
        findings = _plan(document, dialect, workspace, about)
    if json:
        listed = [finding.to_json() for finding in findings]
        print_json({"ok": not findings, "dialect": None, **about, "findings": listed})
    else:
        _show(findings, about)
    return Exit.REFUSED if findings else Exit.DONE


def _result(document: Any, dialect: str | None, about: dict[str, Any]) -> tuple[Finding, ...]:
    contracts = {one.name: one.result_contract for one in registry.dialects() if one.result_contract is not None}
    name = dialect or next(iter(contracts))
    if name not in contracts:
        cure = f"Leave --dialect out, or say {' or '.join(contracts)}."
        return (Finding(Fault.SCHEMA_INVALID, f"results of {name} plans have no validator of their own", "", cure),)
    about |= {"dialect": name, "contract_version": contracts[name].version}
    return contracts[name].findings(document)


def _plan(document: Any, dialect: str | None, workspace: str, about: dict[str, Any]) -> tuple[Finding, ...]:
    try:
        parsed = registry.parse_plan(document, dialect=dialect, is_json=True)
    except Refusal as refused:
        return tuple(refused.findings)
    about["dialect"] = parsed.dialect
    valid = check(parsed, workspace, command_line())
    if isinstance(valid, ValidPlan):
        about |= {
            "request_id": valid.plan.request_id,
            "operations": len(parsed.operations),
            "warnings": [finding.to_json() for finding in valid.unrunnable.values()],
        }
        return ()
    about["repair"] = _repair(parsed, valid)
    return valid


def _repair(plan: Plan, findings: Sequence[Finding]) -> list[dict[str, str]]:
    return [entry.to_json() for entry in minimal_repair(plan, findings)]


def _show(findings: Sequence[Finding], about: dict[str, Any]) -> None:
    out = console()
    if not findings:
        size = f", {about['operations']} operations" if "operations" in about else ""
        out.print(Text("valid ", style="bold green").append(f"{about['dialect']}{size}", style="default"))
    for finding in findings:
        out.print(Text(f"{finding.fault.value} ", style="bold red").append(finding.pointer or "(all)", style="default"))
        out.print(Text(f"  {finding.message}"))
        if finding.cure:
            out.print(Text(f"  {finding.cure}", style="dim"))
    for warning in about.get("warnings", ()):
        out.print(Text("fails when run ", style="bold yellow").append(warning["pointer"], style="default"))
        out.print(Text(f"  {warning['message']}. {warning['cure']}"))
    if about.get("repair"):
        out.print(Text("repair", style="bold"))
        for entry in about["repair"]:
            out.print(Text(f"  {entry['action']:21}{entry['operation_id']}"))

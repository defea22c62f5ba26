"""blendwright validate: every finding of a plan, under the policy of a workspace, or of a result at once, without any Blender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from blendwright.app.checking import check
from blendwright.app.plans import parse_plan
from blendwright.cli.consent import command_line
from blendwright.cli.output import AsJson, Exit, Workspace, console, print_json
from blendwright.cli.plan_input import InDialect, PlanFile, plan_text
from blendwright.dialects import steps
from blendwright.dialects.reading import read_json
from blendwright.dialects.recognise import Dialect
from blendwright.plan.repair import minimal_repair
from blendwright.plan.validate import ValidPlan
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
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


def _result(document: Any, dialect: Dialect | None, about: dict[str, Any]) -> tuple[Finding, ...]:
    if dialect not in (None, "steps"):
        cure = "Leave --dialect out, or say steps."
        return (Finding(Fault.SCHEMA_INVALID, f"results of {dialect} plans have no validator of their own", "", cure),)
    about |= {"dialect": "steps", "contract_version": steps.CONTRACT_VERSION}
    return steps.validate_result(document)


def _plan(document: Any, dialect: Dialect | None, workspace: str, about: dict[str, Any]) -> tuple[Finding, ...]:
    try:
        parsed = parse_plan(document, dialect=dialect)
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

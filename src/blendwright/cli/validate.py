"""blendwright validate: every finding of a plan, under the policy of a workspace, or of a result at once, without any Blender."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.app.document_validation import Validation, validate_plan, validate_result
from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import Exit, present
from blendwright.cli.plan_input import InDialect, PlanFile, plan_text
from blendwright.cli.safe_console import SafeConsole
from blendwright.cli.session import command_line


def validate(
    plan: PlanFile,
    result: Annotated[bool, typer.Option("--result", help="Check the result of a steps plan instead.")] = False,
    dialect: InDialect = None,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Check a plan, or the result of one, and list everything that is wrong with it."""
    text = plan_text(plan)
    if result:
        validation = validate_result(text, dialect=dialect)
    else:
        validation = validate_plan(text, workspace, dialect=dialect, proposal=command_line())
    exit_code = Exit.REFUSED if validation.findings else Exit.DONE
    return present(json, validation.to_json, lambda out: _show(out, validation), exit_code)


def _show(out: SafeConsole, validation: Validation) -> None:
    about = validation.about
    if not validation.findings:
        size = f", {about['operations']} operations" if "operations" in about else ""
        out.labelled("valid", f"{about['dialect']}{size}", "bold green")
    for finding in validation.findings:
        out.labelled(finding.fault.value, finding.pointer or "(all)", "bold red")
        out.show(f"  {finding.message}")
        if finding.cure:
            out.show(f"  {finding.cure}", "dim")
    for warning in about.get("warnings", ()):
        out.labelled("fails when run", warning["pointer"], "bold yellow")
        out.show(f"  {warning['message']}. {warning['cure']}")
    if about.get("repair"):
        out.show("repair", "bold")
        for entry in about["repair"]:
            out.show(f"  {entry['action']:21}{entry['operation_id']}")

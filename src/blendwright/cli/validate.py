"""The command `blendwright validate`, which checks a plan without Blender.

Users call it often, so it imports nothing that runs Blender.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blendwright.cli.options import AsJson, InDialect, PlanFile, Set, Workspace
from blendwright.cli.output import Exit, SafeConsole, count_alike, present, repair_lines
from blendwright.cli.plan_files import plan_text, read_document, surroundings, write_yielded
from blendwright.cli.proposal import command_line
from blendwright.workspace.validate import Validation, validate_plan, validate_result


def validate(
    plan: PlanFile,
    result: Annotated[bool, typer.Option("--result", help="Check the result of a steps plan instead.")] = False,
    dialect: InDialect = None,
    set: Set = None,
    yielded: Annotated[
        Path | None,
        typer.Option("--yielded", metavar="JSON", help="Write the operations that a program yields there, as a plan."),
    ] = None,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Check a plan, or the result of one, and list everything that is wrong with it."""
    if result:
        validation = validate_result(plan_text(plan), dialect=dialect)
    else:
        document = read_document(plan, dialect, set)
        around = surroundings(plan, document, workspace)
        validation = validate_plan(document, workspace, dialect=dialect, proposal=command_line(), surroundings=around)
    if yielded is not None and validation.yielded is not None:
        write_yielded(yielded, validation.yielded)
    if validation.findings:
        exit_code = Exit.REFUSED
    else:
        exit_code = Exit.DONE
    return present(json, validation.to_json, lambda out: _show_validation(out, validation), exit_code)


def _show_validation(out: SafeConsole, validation: Validation) -> None:
    about = validation.about
    if not validation.findings:
        if "operations" in about:
            size = f", {about['operations']} operations"
        else:
            size = ""
        out.labelled("valid", f"{about['dialect']}{size}", "bold green")
    if about.get("printed"):
        out.show(str(about["printed"]))
    for finding, times in count_alike(validation.findings):
        if times > 1:
            often = f" ({times} times)"
        else:
            often = ""
        out.labelled(finding.fault.value, f"{finding.where or '(all)'}{often}", "bold red")
        out.show(f"  {finding.message}")
        if finding.cure:
            out.show(f"  {finding.cure}", "dim")
    for warning in about.get("warnings", ()):
        out.labelled("fails when run", warning.get("place") or warning["pointer"], "bold yellow")
        out.show(f"  {warning['message']}. {warning['cure']}")
    if about.get("repair"):
        out.show("repair", "bold")
        for action, text in repair_lines((entry["action"], entry["operation_id"]) for entry in about["repair"]):
            out.show(f"  {action:21}{text}")

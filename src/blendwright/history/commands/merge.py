"""blendwright merge: add the work of another branch to this one."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.cli.approvals import approver
from blendwright.cli.options import Approve, AsJson, Blender, Workspace
from blendwright.cli.output import Exit, SafeConsole, present
from blendwright.cli.run import show_findings_and_repair
from blendwright.cli.session import open_session, stops_on_interrupt
from blendwright.history import merge as merging
from blendwright.util.cancel import CancelToken
from blendwright.workspace import RunOptions


def merge(
    source: Annotated[str, typer.Argument(metavar="BRANCH", help="The branch or commit whose work to merge.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show the commits to merge and the conflicts.")
    ] = False,
    approve: Approve = None,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Run the commits of another branch again on top of this one, either all of them or none.

    Blendwright refuses the merge if both lines touched the same datablock, and names the two commits. Examples:
    `blendwright merge warm-light --dry-run`; `blendwright merge warm-light`.
    """
    if dry_run:
        planned = merging.plan_merge(workspace, source)
        if planned.ok:
            code = Exit.DONE
        else:
            code = Exit.REFUSED
        return present(json, planned.to_json, lambda out: _show_plan(out, planned), code)
    cancel = CancelToken()
    with stops_on_interrupt(cancel), open_session(workspace, blender=blender, approver=approver(approve)) as opened:
        merged = merging.merge(opened, source, RunOptions(cancel=cancel))
    if merged.report is None:
        code = Exit.DONE
    else:
        code = Exit.of_run(merged.report)
    return present(json, merged.to_json, lambda out: _show(out, merged), code)


def _show_plan(out: SafeConsole, plan: merging.MergePlan) -> None:
    out.findings(plan.findings())
    if not plan.ok:
        out.show(f"{plan.source} cannot be merged", "bold red")
    elif plan.kind == "up_to_date":
        out.show(f"all commits of {plan.source} are already included")
    else:
        effect = "they would run again here"
        if plan.kind == "fast_forward":
            effect = "HEAD would move there"
        out.show(f"{len(plan.taken)} commits since commit {plan.base}: {effect}")


def _show(out: SafeConsole, merged: merging.Merged) -> None:
    plan = merged.plan
    if merged.report is not None and not merged.ok:
        show_findings_and_repair(out, merged.report)
        out.show(f"nothing of {plan.source} was merged: HEAD is at commit {merged.head}", "bold red")
    elif plan.kind == "up_to_date":
        out.show(f"all commits of {plan.source} are already included")
    elif plan.kind == "fast_forward":
        out.show(f"HEAD moved to commit {merged.head} of {plan.source}", "bold green")
    else:
        out.listing([(f"{origin} → {commit}",) for origin, commit in merged.taken], none="")
        out.show(
            f"{len(merged.taken)} commits of {plan.source} ran again; HEAD is at commit {merged.head}",
            "bold green",
        )
    out.show(f"scene {merged.scene_hash}", "dim")

"""blendwright bisect: find the commit that broke a check."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.cli.options import AsJson, Blender, Workspace
from blendwright.cli.output import SafeConsole, notes, present
from blendwright.cli.progress import waiting
from blendwright.history import bisect as bisecting


def bisect(
    expect: Annotated[
        str, typer.Option("--expect", metavar="CHECK", help='The check: scene.objects["Lamp"].location[2] > 0')
    ],
    good: Annotated[
        str | None,
        typer.Option("--good", metavar="N", help="A commit at which the check holds. The default is the first commit."),
    ] = None,
    bad: Annotated[str, typer.Option("--bad", metavar="N", help="A commit at which the check fails.")] = "HEAD",
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Find the first commit that fails a check. This rebuilds few scenes in a separate Blender and leaves the
    workspace unchanged.

    A check is an expression in Starlark over `scene` (objects, collections, materials, cameras, lights, node_groups
    by name; render, world) and `audit`, the result of scene.audit. Examples: `--expect 'audit.errors == 0'`;
    `--expect 'len(scene.lights) > 0' --good 12`; `--expect '"Lamp" in scene.objects'`.
    """
    with waiting("rebuilding scenes", show=not json):
        bisection = bisecting.bisect(workspace, expect, good=good, bad=bad, blender=blender, observe=_note)
    return present(json, bisection.to_json, lambda out: _show(out, bisection))


def _note(looked: bisecting.Looked) -> None:
    reason = ""
    if looked.verdict.message is not None:
        reason = f": {looked.verdict.message}"
    result = "fails"
    if looked.verdict.holds:
        result = "holds"
    notes().show(f"commit {looked.commit} {result}{reason}", "dim")


def _show(out: SafeConsole, bisection: bisecting.Bisection) -> None:
    bad = bisection.first_bad
    reason = ""
    if bisection.message is not None:
        reason = f" ({bisection.message})"
    out.show(f"commit {bad.number} is the first that fails the check{reason}: {bad.tool} {bad.operation_id}", "bold")
    out.show(f"request {bad.request_id}, {bad.timestamp[:19]}; the check holds at commit {bisection.last_good.number}")
    out.show(f"{len(bisection.looked)} scenes of {bisection.commits} were rebuilt", "dim")

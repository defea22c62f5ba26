"""blendwright bisect: which commit broke a check."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.cli.options import AsJson, Blender, Workspace
from blendwright.cli.output import SafeConsole, notes, present
from blendwright.cli.progress import waiting
from blendwright.history import bisect as bisecting


def bisect(
    expect: Annotated[
        str, typer.Option("--expect", metavar="CHECK", help='What must hold: scene.objects["Lamp"].location[2] > 0')
    ],
    good: Annotated[
        str | None,
        typer.Option("--good", metavar="N", help="A commit at which it holds; the first one unless said otherwise."),
    ] = None,
    bad: Annotated[str, typer.Option("--bad", metavar="N", help="A commit at which it does not hold.")] = "HEAD",
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Find the first commit that does not pass a check, rebuilding few scenes beside the workspace, which stays as it is.

    A check is an expression in Starlark over `scene` (objects, collections, materials, cameras, lights, node_groups by name; render,
    world) and `audit`, the result of scene.audit. Examples: `--expect 'audit.errors == 0'`; `--expect 'len(scene.lights) > 0' --good 12`;
    `--expect '"Lamp" in scene.objects'`.
    """
    with waiting("rebuilding scenes", show=not json):
        found = bisecting.bisect(workspace, expect, good=good, bad=bad, blender=blender, observe=_note)
    return present(json, found.to_json, lambda out: _show(out, found))


def _note(looked: bisecting.Looked) -> None:
    if looked.verdict.message is None:
        why = ""
    else:
        why = f": {looked.verdict.message}"
    notes().show(f"commit {looked.commit} {'holds' if looked.verdict.holds else 'fails'}{why}", "dim")


def _show(out: SafeConsole, found: bisecting.Bisection) -> None:
    bad = found.first_bad
    if found.message is None:
        why = ""
    else:
        why = f" ({found.message})"
    out.show(f"commit {bad.number} is the first at which it does not hold{why}: {bad.tool} {bad.operation_id}", "bold")
    out.show(f"request {bad.request_id}, {bad.timestamp[:19]}; it holds at commit {found.last_good.number}")
    out.show(f"{len(found.looked)} scenes of {found.commits} were rebuilt", "dim")

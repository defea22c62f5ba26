"""The commands for the history of a workspace: `blendwright log`, `show`, `undo`, `redo`, `export`, `replay` and more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

import blendwright
from blendwright.cli.options import AsJson, Blender, Workspace
from blendwright.cli.output import (
    Exit,
    SafeConsole,
    note_cleaned,
    note_external_files,
    note_recovered,
    present,
    show_difference,
)
from blendwright.cli.progress import waiting
from blendwright.records.checkpoints import REDO_BUDGET
from blendwright.records.commits import HeadMove
from blendwright.records.results import Moved, Replay
from blendwright.views import export as exporting
from blendwright.views import queries
from blendwright.views.plan_log import PlanEntry, PlanPage, plan_log
from blendwright.workspace.opening import open_existing

Number = Annotated[str, typer.Argument(metavar="N", help="The number of a commit, HEAD, a branch or a tag.")]
REBUILDING = "rebuilding the scene"
# Generated ids: hexadecimal digits, with an optional number.
GENERATED_ID = re.compile(r"[0-9a-f]{32,}(\.\d+)?")
# Characters of a generated id in a list.
SHORT_ID_LENGTH = 12
# Columns of a terminal. A narrower terminal shows each plan in two lines.
MIN_ROW_COLUMNS = 120
ATTEMPT_STYLES = {"succeeded": "green", "failed": "red", "unfinished": "yellow"}


def log(
    workspace: Workspace = ".blendwright",
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many.", min=1, max=10_000)] = 20,
    before: Annotated[
        str | None, typer.Option("--before", metavar="N", help="Only those before this commit: the next page.")
    ] = None,
    all_lines: Annotated[
        bool, typer.Option("--all", help="Every commit there is, also those that do not lie before HEAD.")
    ] = False,
    operations: Annotated[bool, typer.Option("--operations", help="A row for each operation.")] = False,
    plans: Annotated[
        bool, typer.Option("--plans", help="A row for each plan: as without it, but for --json, which has operations.")
    ] = False,
    moves: Annotated[bool, typer.Option("--moves", help="The moves of HEAD instead of the commits.")] = False,
    request: Annotated[
        str | None,
        typer.Option(
            "--request",
            metavar="ID",
            help="The history of one request: attempts and commits. Its first six characters are enough.",
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """List the plans that led to the current scene, newest first.

    The number is that of the commit which has the scene that a plan left: `blendwright checkout N` goes there. `--operations` lists single
    commits, as `--json` does without `--plans`.
    """
    if operations and plans:
        raise typer.BadParameter("--operations and --plans are two ways of listing: give one of them.")
    if request is not None:
        history = queries.request_history(workspace, request)
        return present(json, history.to_json, lambda out: _show_request(out, history))
    if moves:
        head_moves = queries.head_moves(workspace, limit=limit)
        document = {"ok": True, "moves": [asdict(move) for move in head_moves]}
        return present(json, lambda: document, lambda out: _show_moves(out, head_moves))
    next_page = "more: blendwright log "
    if all_lines:
        next_page += "--all "
    if operations:
        next_page += "--operations "
    next_page += "--before "
    if plans or not (operations or json):
        plan_page = plan_log(workspace, limit=limit, before=before, all_lines=all_lines)
        return present(json, plan_page.to_json, lambda out: _show_plans(out, plan_page, next_page))
    page = queries.commit_log(workspace, limit=limit, before=before, all_lines=all_lines)
    return present(json, page.to_json, lambda out: _show_page(out, page, next_page))


def show(number: Number, workspace: Workspace = ".blendwright", json: AsJson = False) -> int:
    """Show one commit: what was run with which arguments, its receipt and its hashes."""
    details = queries.commit_details(workspace, number)

    def show_details(out: SafeConsole) -> None:
        for key, value in details.items():
            if isinstance(value, str):
                text = value
            else:
                text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
            out.labelled(f"{key:14}", text.replace("\n", "\n" + " " * 15), "bold")

    return present(json, lambda: {"ok": True, "commit": details}, show_details)


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="The number of a commit, or HEAD.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The number of another one, or HEAD.")] = "HEAD",
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Show what differs between the scenes of two commits, property by property."""
    with waiting("rebuilding both scenes", show=not json):
        compared = queries.compare_commits(workspace, a, b, blender=blender)
    return present(json, compared.to_json, lambda out: show_difference(compared.difference, out, none="no difference"))


def checkout(
    number: Number, workspace: Workspace = ".blendwright", blender: Blender = None, json: AsJson = False
) -> int:
    """Go to the scene of any commit, or of a branch. Nothing is lost: every other commit stays where it is.

    At a commit HEAD is on no branch; what is done from there is kept under a name with `blendwright switch --create NAME`.
    """
    with open_scene(workspace, blender) as opened:
        with waiting(REBUILDING, show=not json):
            moved = opened.history.checkout(number)
        return present_move(moved, json)


def undo(
    count: Annotated[int, typer.Option("--count", metavar="N", help="So many commits at once.", min=1)] = 1,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="All commits of the last plan at once; what it replaced with --instead is back."),
    ] = False,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Go back to the scene before the last commit, or before the last plan; `redo` leads forward again over as much."""
    if plan and count != 1:
        raise typer.BadParameter("--count goes without --plan: how many commits a plan made is known.")
    with open_scene(workspace, blender) as opened:
        with waiting(REBUILDING, show=not json):
            if plan:
                moved = opened.history.undo_plan()
            else:
                moved = opened.history.undo(count)
        return present_move(moved, json)


def redo(workspace: Workspace = ".blendwright", blender: Blender = None, json: AsJson = False) -> int:
    """Go forward over the last undo."""
    with open_scene(workspace, blender) as opened:
        with waiting(REBUILDING, show=not json):
            moved = opened.history.redo()
        return present_move(moved, json)


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE.blend", help="The file to write.")],
    at: Annotated[str, typer.Option("--at", metavar="N", help="The scene of this commit.")] = "HEAD",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Write the scene, or that of an earlier commit, to a .blend file, without code that would run where it is opened."""
    with waiting("writing the file", show=not json):
        exported = exporting.export_commit(workspace, file, at=at, overwrite=overwrite, blender=blender)

    def show_export(out: SafeConsole) -> None:
        out.show(f"wrote {file} ({exported.size} bytes): the scene of commit {exported.commit.number}")
        note_cleaned(exported.cleaned)

    return present(json, exported.to_json, show_export)


def adopt(
    file: Annotated[Path, typer.Argument(metavar="FILE.blend", help="A file that was edited elsewhere.")],
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Take an edited file in as the current scene. It is a commit like any other: `undo` leads back."""
    with open_scene(workspace, blender) as opened:
        with waiting("reading the file", show=not json):
            commit = opened.history.adopt(file)
        scene_hash = opened.hash
        findings = queries.external_findings(opened.journal)
    number: int | None = None
    externals: list[Any] = []
    if commit is not None:
        number = commit.number
        externals = commit.receipt["externals"]
    document: dict[str, Any] = {
        "ok": True,
        "adopted": commit is not None,
        "commit": number,
        "scene_hash": scene_hash,
        "externals": externals,
    }

    def show_adoption(out: SafeConsole) -> None:
        if commit is None:
            out.show(f"{file} is the scene that HEAD has already: nothing to adopt")
            return
        out.show(f"adopted {file} as commit {commit.number}, scene {scene_hash}")
        note_external_files(findings)

    return present(json, lambda: document, show_adoption)


def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    redo_budget: Annotated[
        int,
        typer.Option("--redo-budget", metavar="N", help="Keep every scene within so many commits of a file.", min=0),
    ] = REDO_BUDGET,
    drop_other_lines: Annotated[
        bool,
        typer.Option(
            "--drop-other-lines", help="Give up commits that lie before neither HEAD, redo, a branch nor a tag."
        ),
    ] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Remove saved scenes that no commit needs, and say what that frees. Every commit can still be checked out."""
    with open_scene(workspace) as opened:
        report = opened.history.gc(redo_budget=redo_budget, drop_other_lines=drop_other_lines, dry_run=dry_run)

    def show_report(out: SafeConsole) -> None:
        for name in report.files:
            out.show(f"  {name}", "dim")
        if dry_run:
            freed, lost = "would free", "would lose"
        else:
            freed, lost = "freed", "lost"
        out.show(f"{freed} {report.bytes} bytes in {len(report.files)} files; {report.kept} checkpoints stay")
        if report.lost:
            numbers = ", ".join(map(str, report.lost))
            out.show(f"{lost} the scenes of commits {numbers}", "yellow")

    return present(json, lambda: {"ok": True, "dry_run": dry_run, **asdict(report)}, show_report)


def open_scene(workspace: str, blender: str | None = None) -> blendwright.OpenScene:
    """Open an existing workspace, and print a note on standard error for each repair that opening it made."""
    opened = open_existing(workspace, blender=blender)
    note_recovered(opened.recovered)
    return opened


def present_move(moved: Moved, json: bool) -> int:
    """Print where HEAD moved to, for people or as JSON, and return the exit code."""
    commit = moved.commit
    document = {
        "ok": True, "move": moved.kind, "from": moved.origin, "head": commit.number, "scene_hash": commit.hash_after,
        "branch": moved.branch, "brought_back": moved.brought_back,
    }  # fmt: skip

    def show_move(out: SafeConsole) -> None:
        if moved.branch is None:
            where = "on no branch"
        else:
            where = f"on {moved.branch}"
        out.show(
            f"HEAD is {where}, at commit {commit.number} (was {moved.origin}): {commit.tool} {commit.operation_id}"
        )
        out.show(f"scene {commit.hash_after}", "dim")
        if moved.brought_back:
            out.show(
                "The plan that the undone one had replaced is back; `undo --plan` again takes that back too.", "dim"
            )

    return present(json, lambda: document, show_move)


def _show_page(out: SafeConsole, page: queries.LogPage, next_page: str) -> None:
    rows = [
        (
            (_commit_mark(commit.number, page.head), "bold green"), (str(commit.number), "bold"),
            commit.timestamp[:19], commit.tool, commit.operation_id[:40], (commit.hash_after[-12:], "dim"),
            (", ".join(page.names.get(commit.number, ())), "cyan"),
        )
        for commit in page.commits
    ]  # fmt: skip
    out.listing(rows, none="no commits")
    _show_continuation(out, page.next_before, page.redo, next_page)


def _show_plans(out: SafeConsole, page: PlanPage, next_page: str) -> None:
    """Print one row per plan, or two lines per plan on a narrow terminal."""
    if out.drawing.width >= MIN_ROW_COLUMNS:
        rows = [
            (
                (_head_mark(plan, page.head), "bold green"), (str(plan.commit.number), "bold"), plan.commit.timestamp[:19],
                plan.what, *_how_much_and_who(plan), (_short(plan.span.request_id), "dim"), (", ".join(plan.names), "cyan"),
            )
            for plan in page.plans
        ]  # fmt: skip
        out.listing(rows, none="no commits")
    else:
        for plan in page.plans:
            _show_plan(out, plan, page.head)
    _show_continuation(out, page.next_before, page.redo, next_page)


def _show_plan(out: SafeConsole, plan: PlanEntry, head: int | None) -> None:
    mark = _head_mark(plan, head) or "    "
    names = ""
    if plan.names:
        names = f"  {', '.join(plan.names)}"
    out.parts(
        (f"{mark}  ", "bold green"),
        (f"{plan.commit.number}", "bold"),
        (f"  {plan.what}", "default"),
        (names, "cyan"),
    )
    about = (*_how_much_and_who(plan), plan.commit.timestamp[:19], _short(plan.span.request_id))
    out.show(f"      {'  '.join(filter(None, about))}", "dim")


def _commit_mark(number: int, head: int | None) -> str:
    if number == head:
        return "HEAD"
    return ""


def _head_mark(plan: PlanEntry, head: int | None) -> str:
    """Return a mark for the plan at HEAD. With --all, HEAD may be in the middle of a plan that an undo took back in part."""
    if not plan.head:
        return ""
    if plan.commit.number == head:
        return "HEAD"
    return f"HEAD at {head}"


def _how_much_and_who(plan: PlanEntry) -> tuple[str, str]:
    """Return the number of operations of a plan and its author. A baseline or an adopted scene has no operations."""
    if plan.commit.kind == "baseline":
        return "", ""
    if plan.commit.kind != "operation":
        return "", plan.who.by
    count = plan.span.operations
    if plan.who.by == "model":
        model = plan.who.model or plan.who.host or ""
    else:
        model = ""
    if count == 1:
        operations = "1 operation"
    else:
        operations = f"{count} operations"
    return operations, f"{plan.who.by} {model}".rstrip()


def _short(request_id: str) -> str:
    if GENERATED_ID.fullmatch(request_id):
        return request_id[:SHORT_ID_LENGTH]
    return request_id


def _show_continuation(out: SafeConsole, next_before: int | None, redo: int | None, next_page: str) -> None:
    if next_before is not None:
        out.show(f"{next_page}{next_before}", "dim")
    if redo is not None:
        out.show(f"undone: `blendwright redo` leads to commit {redo}", "dim")


def _show_moves(out: SafeConsole, moves: Sequence[HeadMove]) -> None:
    rows: list[tuple[str, str, str]] = []
    for move in moves:
        if move.from_commit is None:
            origin = ""
        else:
            origin = str(move.from_commit)
        rows.append((move.timestamp[:19], move.kind, f"{origin} → {move.to_commit}"))
    out.listing(rows, none="no moves")


def _show_request(out: SafeConsole, history: queries.RequestHistory) -> None:
    if history.attempts:
        out.show(history.attempts[0].asked, "bold")
    for attempt in history.attempts:
        status = str(attempt.outcome["status"])
        tokens = attempt.usage.get("total", 0)
        about = f"{attempt.timestamp[:19]}  {attempt.model}  {tokens} tokens  prompt {attempt.prompt_hash[:12]}"
        out.labelled(f"attempt {attempt.number} ", about, "bold", text_style="dim")
        result = f"{attempt.outcome['stage']} {attempt.outcome['message']}".rstrip()
        out.labelled(f"  {status} ", result, ATTEMPT_STYLES.get(status, "yellow"))
    for program in history.programs:
        params = " ".join(f"{name}={orjson.dumps(value).decode()}" for name, value in program.params.items())
        out.labelled(f"program {program.hash[:12]} ", f"{program.timestamp[:19]}  {params}".rstrip(), "bold")
        out.show(program.program.rstrip("\n"))
        for path, text in program.libraries.items():
            out.labelled("  loaded ", f"{path}, {len(text.encode())} bytes", "")
    for commit in history.commits:
        about = f"{commit.timestamp[:19]}  {commit.tool}  {commit.operation_id}  {commit.hash_after[-12:]}"
        out.labelled(f"commit {commit.number} ", about, "bold")


def replay(workspace: Workspace = ".blendwright", blender: Blender = None, json: AsJson = False) -> int:
    """Run all commits of HEAD's line again in a fresh Blender and compare; the workspace stays as it is.

    Another Blender than the one that wrote them has other hashes: then the results of the operations are compared.
    """
    with waiting("running all commits again", show=not json):
        result = queries.replay(workspace, blender=blender)
    if result.ok:
        exit_code = Exit.DONE
    else:
        exit_code = Exit.FAILED
    return present(json, lambda: {"ok": result.ok, **asdict(result)}, lambda out: _show_replay(out, result), exit_code)


def _show_replay(out: SafeConsole, result: Replay) -> None:
    counts = f"{result.commits} commits, {result.redone} run again, {result.opened} opened from a saved scene"
    if result.other:
        counts += f", {result.other} left out that belong to another Blender (name it with --blender)"
    if result.mismatch is None:
        out.labelled("ok", f"{counts}; all {result.by} agree", "bold green")
        return
    out.labelled("mismatch", f"at commit {result.mismatch.commit}: {result.mismatch.what}", "bold red")
    out.show(f"  the journal says  {_text(result.mismatch.expected)}")
    out.show(f"  found             {_text(result.mismatch.found)}")
    if (last := result.agreed) is not None:
        out.show(f"  up to commit {last} everything agrees: `blendwright recover --to {last}` goes on there")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return orjson.dumps(value).decode()

"""blendwright log, show, diff, checkout, undo, redo, export, adopt, gc: the history of a workspace."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.text import Text

import blendwright
from blendwright.app.diffing import difference
from blendwright.app.policy_files import load_policy
from blendwright.app.read_workspace import inspect_scene, read_journal
from blendwright.cli.difference import show_difference
from blendwright.cli.externals import say_externals
from blendwright.cli.output import (
    AsJson,
    Blender,
    Columns,
    Exit,
    Workspace,
    console,
    print_json,
    say_cleaned,
    say_recovered,
)
from blendwright.cli.request_story import tell_story
from blendwright.policy.redaction import redacted, redacted_receipt
from blendwright.records.commits import Commit
from blendwright.records.journal_port import JournalReader
from blendwright.run.externals import recorded_in
from blendwright.run.history import REDO_BUDGET, Moved, find, refusal, require_head
from blendwright.run.replaying import EXCHANGED, rebuild
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed

Number = Annotated[str, typer.Argument(metavar="N", help="The number of a commit, or HEAD.")]
COMMIT_FIELDS = ("number", "parent", "kind", "request_id", "operation_id", "tool", "tool_version", "timestamp",
                 "hash_before", "hash_after", "replayable")  # fmt: skip


def log(
    workspace: Workspace = ".blendwright",
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 20,
    before: Annotated[
        str | None, typer.Option("--before", metavar="N", help="Only those before this commit: the next page.")
    ] = None,
    all_lines: Annotated[
        bool, typer.Option("--all", help="Every commit there is, also those that do not lie before HEAD.")
    ] = False,
    moves: Annotated[bool, typer.Option("--moves", help="The moves of HEAD instead of the commits.")] = False,
    request: Annotated[
        str | None, typer.Option("--request", metavar="ID", help="The story of one request: attempts and commits.")
    ] = None,
    json: AsJson = False,
) -> int:
    """List the commits that led to the current scene, newest first."""
    if request is not None:
        return tell_story(workspace, request, json)
    with read_journal(workspace) as journal:
        head = journal.head
        if moves:
            return _moves(journal, limit, json)
        below = None if before is None else find(journal, before).number
        # One more than asked for tells whether there is a next page.
        found = journal.log(limit=limit + 1, before=below, all_lines=all_lines)
        redo = journal.redo_target()
    page = found[:limit]
    following = page[-1].number if len(found) > limit else None
    number = None if head is None else head.number
    if json:
        commits = [summary(commit) | {"head": commit.number == number} for commit in page]
        print_json({"ok": True, "head": number, "redo": redo, "commits": commits, "next_before": following})
        return Exit.DONE
    out = console()
    table = Columns()
    for commit in page:
        mark = Text("HEAD" if commit.number == number else "", style="bold green")
        table.row(mark, Text(str(commit.number), style="bold"), Text(commit.timestamp[:19]), Text(commit.tool),
                      Text(commit.operation_id[:40]), Text(commit.hash_after[-12:], style="dim"))  # fmt: skip
    out.print(table if page else Text("no commits"))
    if following is not None:
        out.print(Text(f"more: blendwright log {'--all ' if all_lines else ''}--before {following}", style="dim"))
    if redo is not None:
        out.print(Text(f"undone: `blendwright redo` leads to commit {redo}", style="dim"))
    return Exit.DONE


def show(number: Number, workspace: Workspace = ".blendwright", json: AsJson = False) -> int:
    """Show one commit: what was run with which arguments, its receipt and its hashes."""
    with read_journal(workspace) as journal:
        commit = find(journal, number)
        head = journal.head
    hidden = load_policy(Path(workspace).resolve()).policy.audit.redact
    whole = summary(commit) | {
        "operation_key": commit.operation_key,
        "args": redacted(commit.args, hidden),
        "receipt": redacted_receipt(commit.receipt, hidden),
        "audit_sequence": commit.audit_sequence,
        "head": head is not None and head.number == commit.number,
    }
    if json:
        print_json({"ok": True, "commit": whole})
        return Exit.DONE
    out = console()
    for key, value in whole.items():
        text = value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        out.print(Text(f"{key:15}", style="bold").append(text.replace("\n", "\n" + " " * 15), style="default"))
    return Exit.DONE


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="The number of a commit, or HEAD.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The number of another one, or HEAD.")] = "HEAD",
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Show what differs between the scenes of two commits, property by property."""
    with read_journal(workspace) as journal, inspect_scene(workspace, blender=blender) as place:
        before, after = find(journal, a), find(journal, b)
        found = difference(journal, place, before, after)
    if json:
        ends = {name: {"commit": commit.number, "scene_hash": commit.hash_after}
                for name, commit in (("a", before), ("b", after))}  # fmt: skip
        print_json({"ok": True, **ends, "equal": found.none, **found.to_json()})
    else:
        show_difference(found, console(), none="no difference")
    return Exit.DONE


def checkout(
    number: Number, workspace: Workspace = ".blendwright", blender: Blender = None, json: AsJson = False
) -> int:
    """Go to the scene of any commit. Nothing is lost: every other commit stays where it is."""
    with _opened(workspace, blender) as opened:
        return _moved(opened.history.checkout(number), json)


def undo(
    count: Annotated[int, typer.Option("--count", min=1, help="So many commits at once.")] = 1,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Go back to the scene before the last commit; `redo` leads forward again."""
    with _opened(workspace, blender) as opened:
        return _moved(opened.history.undo(count), json)


def redo(workspace: Workspace = ".blendwright", blender: Blender = None, json: AsJson = False) -> int:
    """Go forward over the last undo."""
    with _opened(workspace, blender) as opened:
        return _moved(opened.history.redo(), json)


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE.blend", help="The file to write.")],
    at: Annotated[str, typer.Option("--at", metavar="N", help="The scene of this commit.")] = "HEAD",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Write the scene, or that of an earlier commit, to a .blend file, without code that would run where it is opened."""
    if file.suffix != ".blend":
        other = "Other formats are written by: blendwright call file.export"
        raise refusal(f"{file} is not the name of a .blend file", other)
    if file.exists() and not overwrite:
        raise refusal(f"{file} is there already", "Name another file, or give --overwrite.")
    with read_journal(workspace) as journal, inspect_scene(workspace, blender=blender) as place:
        commit = find(journal, at)
        worker = place.worker()
        rebuild(worker, journal, commit.number)
        saved = worker.export(EXCHANGED)
        if saved["hash"] != commit.hash_after:
            raise RebuildFailed(f"saving gave another scene: expected {commit.hash_after}, found {saved['hash']}")
        deliver(worker.require_process().scratch / EXCHANGED, file)
    size = file.stat().st_size
    if json:
        print_json(
            {"ok": True, "file": str(file), "bytes": size, "commit": commit.number, "scene_hash": commit.hash_after,
             "cleaned": saved["cleaned"]}
        )  # fmt: skip
    else:
        console().print(Text(f"wrote {file} ({size} bytes): the scene of commit {commit.number}"))
        say_cleaned(saved["cleaned"])
    return Exit.DONE


def adopt(
    file: Annotated[Path, typer.Argument(metavar="FILE.blend", help="A file that was edited elsewhere.")],
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Take an edited file in as the current scene. It is a commit like any other: `undo` leads back."""
    with _opened(workspace, blender) as opened:
        commit = opened.history.adopt(file)
        scene_hash = opened.hash
    if json:
        number = None if commit is None else commit.number
        print_json(
            {"ok": True, "adopted": commit is not None, "commit": number, "scene_hash": scene_hash,
             "externals": [] if commit is None else commit.receipt["externals"]}
        )  # fmt: skip
    elif commit is None:
        console().print(Text(f"{file} is the scene that HEAD has already: nothing to adopt"))
    else:
        console().print(Text(f"adopted {file} as commit {commit.number}, scene {scene_hash}"))
        say_externals(recorded_in(commit.receipt))
    return Exit.DONE


def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    redo_budget: Annotated[
        int,
        typer.Option("--redo-budget", metavar="N", min=0, help="Keep every scene within so many commits of a file."),
    ] = REDO_BUDGET,
    drop_other_lines: Annotated[
        bool,
        typer.Option("--drop-other-lines", help="Give up commits that lie before neither HEAD, redo nor a tag."),
    ] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Remove saved scenes that no commit needs, and say what that frees. Every commit can still be checked out."""
    with _opened(workspace, None) as opened:
        freed = opened.history.gc(redo_budget=redo_budget, drop_other_lines=drop_other_lines, dry_run=dry_run)
    if json:
        print_json({"ok": True, "dry_run": dry_run, **asdict(freed)})
        return Exit.DONE
    out = console()
    for name in freed.files:
        out.print(Text(f"  {name}", style="dim"))
    word = "would free" if dry_run else "freed"
    out.print(Text(f"{word} {freed.bytes} bytes in {len(freed.files)} files; {freed.kept} checkpoints stay"))
    if freed.lost:
        numbers = ", ".join(map(str, freed.lost))
        out.print(Text(f"{'would lose' if dry_run else 'lost'} the scenes of commits {numbers}", style="yellow"))
    return Exit.DONE


def summary(commit: Commit) -> dict[str, Any]:
    return {name: getattr(commit, name) for name in COMMIT_FIELDS}


def _opened(workspace: str, blender: str | None) -> blendwright.OpenScene:
    """A workspace that is there: these commands begin none."""
    with read_journal(workspace) as journal:
        require_head(journal)
    opened = blendwright.open(workspace, blender=blender, spare=False)
    say_recovered(opened.recovered)
    return opened


def _moved(moved: Moved, json: bool) -> int:
    commit = moved.commit
    if json:
        print_json(
            {
                "ok": True,
                "move": moved.kind,
                "from": moved.origin,
                "head": commit.number,
                "scene_hash": commit.hash_after,
            }
        )
    else:
        console().print(
            Text(f"HEAD is at commit {commit.number} (was {moved.origin}): {commit.tool} {commit.operation_id}")
        )
        console().print(Text(f"scene {commit.hash_after}", style="dim"))
    return Exit.DONE


def _moves(journal: JournalReader, limit: int, json: bool) -> int:
    found = journal.moves(limit=limit)
    if json:
        print_json({"ok": True, "moves": [asdict(move) for move in found]})
        return Exit.DONE
    table = Columns()
    for move in found:
        origin = "" if move.from_commit is None else str(move.from_commit)
        table.row(Text(move.timestamp[:19]), Text(move.kind), Text(f"{origin} → {move.to_commit}"))
    console().print(table if found else Text("no moves"))
    return Exit.DONE


def deliver(made: Path, target: Path) -> None:
    """Whole or not at all: a file that is replaced must not be half of each."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, part)
        part.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):  # where nothing can be written, nothing can be removed either
            part.unlink()
        raise EnvironmentUnfit(f"{target} cannot be written: {error.strerror}", cure="Name another place.") from error

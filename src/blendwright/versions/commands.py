"""blendwright upgrade, compare: what another Blender makes of a workspace or a file, and the move there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import Exit, SafeConsole, note_external_files, notes, present, short_value
from blendwright.cli.progress import Rate
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.versions import upgrade as upgrading
from blendwright.versions.compare_files import ComparedFile, compare_file
from blendwright.versions.report import PAGE, VersionReport, heading, summary

# On the screen, for each operation and scene; the report has all.
MOST_SHOWN = 20

ReportDirectory = Annotated[
    Path | None,
    typer.Option("--report", metavar="DIR", help="Write the report with its pictures there.", file_okay=False),
]


def upgrade(
    blender: Annotated[str, typer.Option("--blender", metavar="VERSION|PATH", help="The Blender to move to.")],
    old: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="VERSION|PATH",
            help="The Blender that the workspace belongs to, where it is not found by itself.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Move the workspace, if nothing parts.")] = False,
    accept_differences: Annotated[
        bool, typer.Option("--accept-differences", help="Move the workspace, also where scenes part.")
    ] = False,
    take: Annotated[
        upgrading.Take | None,
        typer.Option("--take", help="The scene to go on with: the journal replayed, or HEAD's scene opened."),
    ] = None,
    report: ReportDirectory = None,
    pictures: Annotated[
        int,
        typer.Option(
            "--pictures",
            metavar="N",
            help="Pictures of both for at most so many operations that part; 0 for none at all.",
            min=0,
        ),
    ] = upgrading.MOST_PICTURES,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Replay the workspace in another Blender beside its own, report where they part, and move it there when you say so.

    Without --yes or --accept-differences nothing is changed. The history stays: what came before can be reached with the old Blender.
    """
    options = upgrading.UpgradeOptions(yes, accept_differences, take, report, pictures)
    with _progress(show=not json) as progress:
        result = upgrading.upgrade(workspace, blender, old=old, options=options, progress=progress)
    done = result.report.same or result.commit is not None
    return present(
        json, result.to_json, lambda out: _show_upgrade(out, result, blender), Exit.DONE if done else Exit.FAILED
    )


def compare(
    file: Annotated[Path, typer.Argument(metavar="FILE.blend", help="The file to open in both; it is not written.")],
    blender: Annotated[
        list[str], typer.Option("--blender", metavar="VERSION|PATH", help="Twice: the old one, then the new one.")
    ],
    report: ReportDirectory = None,
    json: AsJson = False,
) -> int:
    """Open a file in two Blenders and compare: will the scene survive? Exit code 1 says that it parts."""
    if len(blender) != 2:
        cure = "Name the old one, then the new one: --blender OLD --blender NEW."
        raise Refusal.of(Fault.ARGS_INVALID, f"two Blenders are compared, and {len(blender)} named", cure)
    result = compare_file(file, *blender, directory=report)
    return present(
        json, result.to_json, lambda out: _show_file(out, result), Exit.DONE if result.report.same else Exit.FAILED
    )


@contextlib.contextmanager
def _progress(*, show: bool) -> Generator[Callable[[int, int], None]]:
    """How many commits have been compared: a bar on a terminal, nothing anywhere else."""
    out = notes()
    if not show or not out.is_terminal:
        yield lambda done, of: None
        return
    columns = (TextColumn("replaying in both"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), Rate())
    with Progress(*columns, console=out.drawing, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _show_upgrade(out: SafeConsole, result: upgrading.Upgrade, blender: str) -> None:
    _show_report(out, result.report)
    out.show(f"report: {result.directory / PAGE}")
    if result.commit is not None:
        version = result.report.new
        out.labelled(
            "moved", f"to Blender {version}: commit {result.commit.number}, with the scene {result.taken}", "bold green"
        )
        if result.configured is not None:
            remark = (
                f"blendwright.toml names the Blender '{result.configured}' under [blender]: let it name the new one"
            )
            notes().labelled("note:", remark, "bold yellow")
        return
    if result.report.same:
        option = "--yes"
    else:
        option = "--accept-differences"
    out.show(f"nothing was changed; to move: blendwright upgrade --blender {blender} {option}")


def _show_file(out: SafeConsole, result: ComparedFile) -> None:
    note_external_files(result.findings)
    _show_report(out, result.report)
    if result.directory is not None:
        out.show(f"report: {result.directory / PAGE}")


def _show_report(out: SafeConsole, report: VersionReport) -> None:
    out.show(f"Blender {report.old} → {report.new}", "bold")
    for part in report.operations:
        out.labelled("parts", heading(part), "bold red")
        if part.message:
            out.show(f"  {part.message}", "dim")
        rows = [("result " + each.path, each.old, each.new) for each in part.results]
        _show_rows(out, rows + [(" ".join(each.place()), each.old, each.new) for each in part.properties])
    for scene in report.scenes:
        if scene.pictures is None:
            pictures = ""
        else:
            pictures = f", {scene.pictures.differing:.1%} of the pixels differ"
        if scene.parts:
            out.labelled("parts", f"{scene.how}: {len(scene.parts)} properties{pictures}", "bold red")
            _show_rows(out, [(" ".join(each.place()), each.old, each.new) for each in scene.parts])
        else:
            out.labelled("same", f"{scene.how}{pictures}", "bold green")
    for each in report.opened:
        out.labelled(
            "opened", f"commit {each.commit}: {each.tool} cannot be replayed; both opened its checkpoint", "yellow"
        )
    out.show(
        f"{len(report.notes)} properties and sockets are not the same by design of the two; the report lists them",
        "dim",
    )
    out.show(summary(report))


def _show_rows(out: SafeConsole, rows: list[tuple[str, Any, Any]]) -> None:
    out.columns([(where, short_value(old), "→", short_value(new)) for where, old, new in rows[:MOST_SHOWN]], indent=2)
    if len(rows) > MOST_SHOWN:
        out.show(f"  and {len(rows) - MOST_SHOWN} more", "dim")

"""blendwright upgrade, compare: differences of a workspace or file in another Blender, and the upgrade to it."""

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

# The number of rows on the screen for each operation and scene. The report has all.
MAX_SHOWN_ROWS = 20

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
            help="The current Blender of the workspace, if Blendwright does not find it automatically.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Move the workspace if nothing differs.")] = False,
    accept_differences: Annotated[
        bool, typer.Option("--accept-differences", help="Move the workspace even if scenes differ.")
    ] = False,
    take: Annotated[
        upgrading.Take | None,
        typer.Option("--take", help="The scene to continue with: the replayed journal, or HEAD's scene as opened."),
    ] = None,
    report: ReportDirectory = None,
    pictures: Annotated[
        int,
        typer.Option(
            "--pictures",
            metavar="N",
            help="The number of differing operations to render in both Blenders. 0 renders none.",
            min=0,
        ),
    ] = upgrading.MOST_PICTURES,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Replay the workspace in another Blender next to the current one, report differences, and move it there if you confirm.

    Without --yes or --accept-differences, the command changes nothing. The history stays: earlier commits remain
    reachable with the old Blender.
    """
    options = upgrading.UpgradeOptions(yes, accept_differences, take, report, pictures)
    with _progress(show=not json) as progress:
        result = upgrading.upgrade(workspace, blender, old=old, options=options, progress=progress)
    code = Exit.FAILED
    if result.report.same or result.commit is not None:
        code = Exit.DONE
    return present(json, result.to_json, lambda out: _show_upgrade(out, result, blender), code)


def compare(
    file: Annotated[Path, typer.Argument(metavar="FILE.blend", help="The file to open in both. It is never written.")],
    blender: Annotated[
        list[str],
        typer.Option("--blender", metavar="VERSION|PATH", help="Give it twice: the old one, then the new one."),
    ],
    report: ReportDirectory = None,
    json: AsJson = False,
) -> int:
    """Open a file in two Blenders and compare the scenes. Exit code 1 means that they differ."""
    if len(blender) != 2:
        fix = "Name the old one, then the new one: --blender OLD --blender NEW."
        raise Refusal.of(Fault.ARGS_INVALID, f"compare needs two Blenders, got {len(blender)}", fix)
    result = compare_file(file, *blender, directory=report)
    code = Exit.FAILED
    if result.report.same:
        code = Exit.DONE
    return present(json, result.to_json, lambda out: _show_file(out, result), code)


@contextlib.contextmanager
def _progress(*, show: bool) -> Generator[Callable[[int, int], None]]:
    """Yield a function that shows the number of compared commits: as a bar on a terminal, otherwise not at all."""
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
                f"blendwright.toml names the Blender '{result.configured}' under [blender]: change it to the new one"
            )
            notes().labelled("note:", remark, "bold yellow")
        return
    if result.report.same:
        option = "--yes"
    else:
        option = "--accept-differences"
    out.show(f"nothing was changed. To move the workspace: blendwright upgrade --blender {blender} {option}")


def _show_file(out: SafeConsole, result: ComparedFile) -> None:
    note_external_files(result.findings)
    _show_report(out, result.report)
    if result.directory is not None:
        out.show(f"report: {result.directory / PAGE}")


def _show_report(out: SafeConsole, report: VersionReport) -> None:
    out.show(f"Blender {report.old} → {report.new}", "bold")
    for part in report.operations:
        out.labelled("differs", heading(part), "bold red")
        if part.message:
            out.show(f"  {part.message}", "dim")
        rows = [("result " + result.path, result.old, result.new) for result in part.results]
        for property_part in part.properties:
            rows.append((" ".join(property_part.place()), property_part.old, property_part.new))
        _show_rows(out, rows)
    for scene in report.scenes:
        if scene.pictures is None:
            pictures = ""
        else:
            pictures = f", {scene.pictures.differing:.1%} of the pixels differ"
        if scene.parts:
            out.labelled("differs", f"{scene.how}: {len(scene.parts)} properties{pictures}", "bold red")
            _show_rows(
                out, [(" ".join(difference.place()), difference.old, difference.new) for difference in scene.parts]
            )
        else:
            out.labelled("same", f"{scene.how}{pictures}", "bold green")
    for opened in report.opened:
        out.labelled(
            "opened", f"commit {opened.commit}: {opened.tool} cannot be replayed; both opened its checkpoint", "yellow"
        )
    out.show(
        f"{len(report.notes)} properties and sockets differ by design of the two Blenders; the report lists them", "dim"
    )
    out.show(summary(report))


def _show_rows(out: SafeConsole, rows: list[tuple[str, Any, Any]]) -> None:
    out.columns([(path, short_value(old), "→", short_value(new)) for path, old, new in rows[:MAX_SHOWN_ROWS]], indent=2)
    if len(rows) > MAX_SHOWN_ROWS:
        out.show(f"  and {len(rows) - MAX_SHOWN_ROWS} more", "dim")

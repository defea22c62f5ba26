"""The commands `blendwright batch run`, `status`, `retry` and `show`: one program for every row of a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from blendwright.batch.commands.consent import consented_blender, consented_grants
from blendwright.batch.commands.display import BatchDisplay
from blendwright.batch.commands.export import export_command
from blendwright.batch.commands.options import AsJson, AsParquet, Directory, JsonLines, Workers
from blendwright.batch.coordinator import BatchRun, RunSummary
from blendwright.batch.definition import KEEPS, Batch, Keep, Output
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.engines.local_pool import LocalPool
from blendwright.batch.farm_formats import select_rows
from blendwright.batch.fleet_port import require_fleet
from blendwright.batch.input.batch_file import BatchDocument, read_batch_file
from blendwright.batch.input.parquet_files import require_pyarrow
from blendwright.batch.input.prepare import prepare
from blendwright.batch.input.tables import Row, seed_rows, table_rows
from blendwright.batch.outputs.locations import open_results
from blendwright.batch.outputs.makers import KINDS, output_of
from blendwright.batch.results.files import write_result_files
from blendwright.batch.results.table import Counts, Standing
from blendwright.capabilities import Point
from blendwright.cli.options import Approve, Blender, FleetEngine, Set
from blendwright.cli.output import Exit, SafeConsole, notes, present
from blendwright.cli.plan_files import parameters
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

DEFAULT_OUTPUTS = ("blend", "picture")
# Failed cases that `batch status` prints; results.csv lists all.
MAX_LISTED_FAILURES = 20
HELP = """Run a program for every row of a table. An interrupted batch can be resumed.

\b
One case for each seed, four Blenders, results and outputs in `shots`:
  blendwright batch run scene.star --seeds 0:100 --workers 4 --out shots
One case for each row of a table, with GLB files and pictures:
  blendwright batch run chair.star --params chairs.csv --output glb --output picture --out chairs
A batch file, which contains all settings:
  blendwright batch run batch.json --out shots
After an interruption or a crash, or with more rows, run the same command again.
"""

batch_app = typer.Typer(help=HELP, no_args_is_help=True)

# Further commands of this group, each with its name and its function.
COMMANDS: Point[tuple[str, Callable[..., int]]] = Point("batch.commands")


@batch_app.command("run")
def run_command(
    program: Annotated[
        str, typer.Argument(metavar="PROGRAM", help="A program (.star), a plan or a batch file (.json).")
    ],
    out: Annotated[
        str,
        typer.Option("--out", metavar="DIR|URL", help="Where outputs and results go; the same value again resumes."),
    ],
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", metavar="FIRST:END", help="Run a case for each seed from FIRST to END - 1."),
    ] = None,
    params: Annotated[
        Path | None,
        typer.Option("--params", metavar="TABLE", help="Run a case for each row of a .csv, .jsonl or .parquet file."),
    ] = None,
    cases: Annotated[
        int | None,
        typer.Option("--cases", metavar="N", help="For a batch file: the number of samples of each row.", min=1),
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="LIST", help="Run only these cases, counted from 0, as 0-9,17.")
    ] = None,
    set: Set = None,
    workers: Workers = None,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="KIND", help=f"{', '.join(KINDS)}; repeatable. By default blend and picture."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep", metavar=f"{'|'.join(KEEPS)}", help="How much of the cases' workspaces to keep; by default drop."
        ),
    ] = None,
    blender: Blender = None,
    approve: Approve = None,
    parquet: AsParquet = False,
    engine: FleetEngine = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="With --engine: return as soon as the database has stored the cases.")
    ] = False,
    json: JsonLines = False,
) -> int:
    """Run every case that is not finished yet.

    Ctrl-C stops after the running cases; a second Ctrl-C stops at once. The same command resumes the batch."""
    if parquet:
        require_pyarrow("--parquet")
    directory = Path.cwd()
    if engine is None:
        directory = Path(out).resolve()

    program_path = Path(program)
    file = None
    if program_path.suffix == ".json":
        file = read_batch_file(program_path)
    if file is None:
        if cases is not None:
            message = "--cases works only with a batch file"
            raise Refusal.of(Fault.ARGS_INVALID, message, "Pass --seeds 0:100 for a hundred cases.")
        document = None
        rows = _rows(seeds, params)
        program_params: dict[str, Any] = {}
        document_blender, document_grants = None, []
        case_seconds = None
    else:
        document = file.document
        if cases is not None:
            document = document.model_copy(update={"cases": cases})
        rows = _file_rows(file.path, document, seeds, params)
        program_path = file.program
        program_params = dict(document.params)
        document_blender, document_grants = document.blender, document.approve
        case_seconds = document.case_seconds

    blender = consented_blender(blender, document_blender, program)
    grants = consented_grants(approve or (), document_grants, program)
    chosen_keep = _keep(keep)
    if keep is None and document is not None:
        chosen_keep = document.keep
    prepared = prepare(
        program_path,
        select_rows(rows, only),
        common=program_params | parameters(set),
        outputs=_outputs(output, document),
        directory=directory,
        keep=chosen_keep,
        blender=blender,
        approve=grants,
        case_seconds=case_seconds,
    )
    if engine is not None:
        return require_fleet().run(engine, out, prepared, detach=detach, json=json)
    batch_directory = BatchDirectory(directory)
    return _run(prepared.batch, prepared.rows, batch_directory, workers, blender, parquet=parquet, json=json)


def _run(
    batch: Batch,
    rows: Iterator[Row] | None,
    directory: BatchDirectory,
    workers: int | None,
    blender: str | None,
    *,
    parquet: bool,
    json: bool,
) -> int:
    run = BatchRun(batch, directory, LocalPool(blender))
    with BatchDisplay(json=json, stop=run.stop) as display:
        summary = run.run(rows, workers or os.cpu_count() or 1, display.update, parquet=parquet)
    if json:
        display.line({"event": "summary", **_document(summary.counts, summary.batch), "stopped": summary.stopped})
    else:
        _show_summary(summary, directory)
    if summary.stopped:
        return Exit.INTERRUPTED
    if summary.ok:
        return Exit.DONE
    return Exit.FAILED


def _show_summary(summary: RunSummary, directory: BatchDirectory) -> None:
    _show_counts(notes(), summary.counts)
    if summary.finished_before:
        notes().show(f"  {summary.finished_before} cases were already finished", "dim")
    notes().show(f"  results  {directory.root / 'results.csv'}", "dim")
    if summary.counts.failed:
        notes().show(f"  see the reasons: blendwright batch status {directory.root}", "dim")
    if summary.counts.open:
        notes().show("  run the same command again to resume", "dim")


def _show_counts(out: SafeConsole, counts: Counts) -> None:
    if counts.failed:
        style = "bold red"
    elif not counts.open:
        style = "bold green"
    else:
        style = "bold yellow"
    open_cases = ""
    if counts.open:
        open_cases = f", {counts.open} open"
    out.labelled("batch", f"{counts.done} of {counts.total} cases done, {counts.failed} failed{open_cases}", style)


def _rows(seeds: str | None, params: Path | None) -> Iterator[Row]:
    if seeds is not None and params is not None:
        message = "--seeds and --params cannot be combined"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Pass only one of them.")
    if seeds is not None:
        return seed_rows(seeds)
    single: Row = ({}, "")
    if params is not None:
        return table_rows(params)
    return iter((single,))


def _outputs(kinds: list[str] | None, document: BatchDocument | None) -> tuple[Output, ...]:
    if kinds or document is None:
        return tuple(output_of(kind) for kind in kinds or DEFAULT_OUTPUTS)
    return document.wanted_outputs()


def _file_rows(path: Path, document: BatchDocument, seeds: str | None, params: Path | None) -> Iterator[Row]:
    if seeds is not None or params is not None:
        fix = "Leave out --seeds and --params, or name the program instead of the batch file."
        raise Refusal.of(Fault.ARGS_INVALID, "a batch file defines its rows itself", fix)
    return document.rows(path.parent)


def _keep(text: str | None) -> Keep:
    match text:
        case None:
            return "drop"
        case "keep" | "compact" | "drop":
            return text
        case _:
            raise typer.BadParameter(f"'{text}' is not one of {', '.join(KEEPS)}.")


def _document(counts: Counts, batch: str) -> dict[str, Any]:
    ok = not counts.failed and not counts.open
    return {
        "ok": ok, "batch": batch, "cases": counts.total, "done": counts.done, "failed": counts.failed,
        "running": counts.running, "waiting": counts.waiting,
    }  # fmt: skip


@batch_app.command("status")
def status_command(
    directory: Directory, parquet: AsParquet = False, engine: FleetEngine = None, json: AsJson = False
) -> int:
    """Show the progress of a batch, running or not, and its failed cases. Write the result files again."""
    if engine is not None:
        return require_fleet().show(engine, directory, json=json)
    batch_directory = BatchDirectory(Path(directory).resolve())
    batch_directory.require()
    with open_results(str(batch_directory.results)) as results:
        batch = results.batch()
        assert batch is not None
        counts = results.counts(batch.id)
        failed_rows: list[dict[str, Any]] = []
        if counts.failed:
            failed_rows = [row.to_json() for row in results.rows(batch.id) if row.status == "failed"]
        write_result_files(results, batch_directory.root, batch.id, parquet=parquet)

    def show(out: SafeConsole) -> None:
        _show_counts(out, counts)
        for row in failed_rows[:MAX_LISTED_FAILURES]:
            finding = row["findings"][0]
            out.labelled(f"  {row['number']:06d}", f"{finding['code']}: {finding['message']}", "red")
        unlisted = len(failed_rows) - MAX_LISTED_FAILURES
        if unlisted > 0:
            out.show(f"  and {unlisted} more, in {batch_directory.root / 'results.csv'}", "dim")

    return present(json, lambda: {**_document(counts, batch.id), "failures": failed_rows}, show)


@batch_app.command("retry")
def retry_command(
    directory: Directory,
    failed: Annotated[bool, typer.Option("--failed", help="Run the failed cases again.")] = False,
    workers: Workers = None,
    blender: Blender = None,
    approve: Approve = None,
    parquet: AsParquet = False,
    engine: FleetEngine = None,
    json: JsonLines = False,
) -> int:
    """Run the failed cases again, and the open ones. The grants of the batch need --approve again."""
    if not failed:
        raise Refusal.of(Fault.ARGS_INVALID, "the command does not say which cases to run again", "Pass --failed.")
    if engine is not None and (blender is not None or approve):
        message = "with --engine, each worker chooses its Blender and its grants itself"
        fix = "Leave out --blender and --approve, and pass them to `worker`."
        raise Refusal.of(Fault.ARGS_INVALID, message, fix)
    if engine is not None:
        return require_fleet().retry(engine, directory, json=json)

    batch_directory = BatchDirectory(Path(directory).resolve())
    batch_directory.require()
    with batch_directory.locked(), open_results(str(batch_directory.results)) as results:
        batch = results.batch()
        assert batch is not None
        table = str(batch_directory.results)
        blender = consented_blender(blender, batch.blender, table)
        added_grants = set(consented_grants(approve or (), batch.approve, table)) - {*batch.approve}
        if added_grants:
            message = f"the batch was run without --approve {', '.join(sorted(added_grants))}"
            raise Refusal.of(Fault.ARGS_INVALID, message, "Run it again with `batch run` and this --approve.")
        results.retry_failed(batch.id)
    return _run(batch, None, batch_directory, workers, blender, parquet=parquet, json=json)


@batch_app.command("show")
def show_command(
    directory: Directory,
    case: Annotated[
        str, typer.Argument(metavar="CASE", help="The number of a case, or the first characters of its key.")
    ],
    engine: FleetEngine = None,
    json: AsJson = False,
) -> int:
    """Show one case: its parameters, result, files and times."""
    batch_directory = BatchDirectory(Path(directory).resolve())
    if engine is None:
        batch_directory.require()
        table = open_results(str(batch_directory.results))
    else:
        table = require_fleet().open_results(engine, directory)
    wanted: int | str = case
    if case.isdecimal() and len(case) < 16:
        wanted = int(case)
    with table as results:
        standing = results.standing(wanted)
    if standing is None:
        fix = "results.csv lists the cases with their numbers."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"{directory} has no case {case[:70]}", fix)
    return present(json, lambda: _standing_document(standing), lambda out: _show_standing(out, standing))


def _standing_document(standing: Standing) -> dict[str, Any]:
    case = standing.case
    row: dict[str, Any] | None = None
    if standing.row is not None:
        row = standing.row.to_json()
    return {
        "number": case.number,
        "key": case.key,
        "params": dict(case.params),
        "status": standing.status,
        "attempts": standing.attempts,
        "row": row,
    }


def _show_standing(out: SafeConsole, standing: Standing) -> None:
    case, row = standing.case, standing.row
    style = {"done": "bold green", "failed": "bold red"}.get(standing.status, "bold yellow")
    title = f"case {case.name}"
    if case.source:
        title += f", {case.source}"
    out.labelled(standing.status, title, style)
    out.columns([(f"  {name}", str(value)) for name, value in case.params.items()])
    if row is None:
        return
    for finding in row.findings:
        out.labelled(f"  {finding['code']}", finding["message"], "red")
        if finding["cure"]:
            out.show(f"    {finding['cure']}", "dim")
    for name in row.outputs:
        out.show(f"  wrote   {row.location}/{name}")
    out.show(f"  scene   {row.scene_hash}", "dim")
    times = ", ".join(f"{name} {seconds:g} s" for name, seconds in row.times.items())
    out.show(f"  times   {times}", "dim")
    out.show(f"  reused  {row.reused} of {row.operations} operations; attempt {row.attempts} on {row.worker}", "dim")


batch_app.command("export")(export_command)
for _name, _command in COMMANDS.offers():
    batch_app.command(_name)(_command)

"""blendwright batch run, status, retry, show: one program for every row of a table."""

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
HELP = """Run a program for every row of a table, and go on after anything.

\b
One case for each seed, four Blenders, results and outputs in `shots`:
  blendwright batch run scene.star --seeds 0:100 --workers 4 --out shots
One case for each row of a table, with GLB files and pictures:
  blendwright batch run chair.star --params chairs.csv --output glb --output picture --out chairs
Everything that a batch file says:
  blendwright batch run batch.json --out shots
After an interruption, a crash, or with more rows: the same command again.
"""

batch_app = typer.Typer(help=HELP, no_args_is_help=True)

# Further commands of this group: the name and the function.
COMMANDS: Point[tuple[str, Callable[..., int]]] = Point("batch.commands")


@batch_app.command("run")
def run_command(
    program: Annotated[
        str, typer.Argument(metavar="PROGRAM", help="A program (.star), a plan or a batch file (.json).")
    ],
    out: Annotated[
        str, typer.Option("--out", metavar="DIR|URL", help="Where outputs and results go; the same again goes on.")
    ],
    seeds: Annotated[
        str | None, typer.Option("--seeds", metavar="FIRST:END", help="A case for each seed; END is not among them.")
    ] = None,
    params: Annotated[
        Path | None, typer.Option("--params", metavar="TABLE", help="A case for each row: .csv, .jsonl or .parquet.")
    ] = None,
    cases: Annotated[
        int | None, typer.Option("--cases", metavar="N", help="Of a batch file: how often each row is drawn.", min=1)
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="LIST", help="Only these cases, counted from 0, as 0-9,17.")
    ] = None,
    set: Set = None,
    workers: Workers = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output", metavar="KIND", help=f"{', '.join(KINDS)}; may be repeated. blend and picture by default."
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep", metavar=f"{'|'.join(KEEPS)}", help="What becomes of the workspaces of cases; drop by default."
        ),
    ] = None,
    blender: Blender = None,
    approve: Approve = None,
    parquet: AsParquet = False,
    engine: FleetEngine = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="With --engine: end as soon as the cases wait there.")
    ] = False,
    json: JsonLines = False,
) -> int:
    """Run every case that is not finished yet. Ctrl-C ends it after the cases that are under way, twice at once; the same command goes
    on."""
    if parquet:
        require_pyarrow("--parquet")
    if engine is None:
        directory = Path(out).resolve()
    else:
        directory = Path.cwd()
    path = Path(program)
    if path.suffix == ".json":
        file = read_batch_file(path)
    else:
        file = None
    if file is None and cases is not None:
        raise Refusal.of(Fault.ARGS_INVALID, "--cases is for batch files", "Give --seeds 0:100 for a hundred cases.")
    if file is None:
        said = None
    else:
        said = file.document.model_copy(update={} if cases is None else {"cases": cases})
    blender = consented_blender(blender, None if said is None else said.blender, program)
    grants = consented_grants(approve or (), () if said is None else said.approve, program)
    outputs = _outputs(output, said)
    if file is None or said is None:
        rows = _rows(seeds, params)
    else:
        rows = _file_rows(file.path, said, seeds, params)
    prepared = prepare(
        path if file is None else file.program,
        select_rows(rows, only),
        common={**({} if said is None else said.params), **parameters(set)},
        outputs=outputs,
        directory=directory,
        keep=_keep(keep) if keep is not None or said is None else said.keep,
        blender=blender,
        approve=grants,
        case_seconds=None if said is None else said.case_seconds,
    )
    if engine is not None:
        return require_fleet().run(engine, out, prepared, detach=detach, json=json)
    place = BatchDirectory(directory)
    return _run(prepared.batch, prepared.rows, place, workers, blender, parquet=parquet, json=json)


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
        summary = run.run(rows, workers or os.cpu_count() or 1, display.tell, parquet=parquet)
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
        notes().show(f"  {summary.finished_before} were finished before", "dim")
    notes().show(f"  results  {directory.root / 'results.csv'}", "dim")
    if summary.counts.failed:
        notes().show(f"  see why: blendwright batch status {directory.root}", "dim")
    if summary.counts.open:
        notes().show("  the same command goes on", "dim")


def _show_counts(out: SafeConsole, counts: Counts) -> None:
    if counts.failed:
        style = "bold red"
    elif not counts.open:
        style = "bold green"
    else:
        style = "bold yellow"
    if counts.open:
        waiting = f", {counts.open} open"
    else:
        waiting = ""
    out.labelled("batch", f"{counts.done} of {counts.total} cases done, {counts.failed} failed{waiting}", style)


def _rows(seeds: str | None, params: Path | None) -> Iterator[Row]:
    if seeds is not None and params is not None:
        raise Refusal.of(Fault.ARGS_INVALID, "--seeds and --params are two tables", "Give one of them.")
    if seeds is not None:
        return seed_rows(seeds)
    single: Row = ({}, "")
    if params is not None:
        return table_rows(params)
    return iter((single,))


def _outputs(kinds: list[str] | None, said: BatchDocument | None) -> tuple[Output, ...]:
    if kinds or said is None:
        return tuple(output_of(kind) for kind in kinds or DEFAULT_OUTPUTS)
    return said.wanted_outputs()


def _file_rows(path: Path, said: BatchDocument, seeds: str | None, params: Path | None) -> Iterator[Row]:
    if seeds is not None or params is not None:
        cure = "Leave them out, or name the program itself."
        raise Refusal.of(Fault.ARGS_INVALID, "a batch file says itself what rows there are", cure)
    return said.rows(path.parent)


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
    """Show how far a batch is, which may be running, and the cases that failed; write the files with its results anew."""
    if engine is not None:
        return require_fleet().show(engine, directory, json=json)
    place = BatchDirectory(Path(directory).resolve())
    place.require()
    with open_results(str(place.results)) as results:
        batch = results.batch()
        assert batch is not None
        counts = results.counts(batch.id)
        if counts.failed:
            failed = [row.to_json() for row in results.rows(batch.id) if row.status == "failed"]
        else:
            failed = []
        write_result_files(results, place.root, batch.id, parquet=parquet)

    def show(out: SafeConsole) -> None:
        _show_counts(out, counts)
        for row in failed[:20]:
            finding = row["findings"][0]
            out.labelled(f"  {row['number']:06d}", f"{finding['code']}: {finding['message']}", "red")
        if len(failed) > 20:
            out.show(f"  and {len(failed) - 20} more, in {place.root / 'results.csv'}", "dim")

    return present(json, lambda: {**_document(counts, batch.id), "failures": failed}, show)


@batch_app.command("retry")
def retry_command(
    directory: Directory,
    failed: Annotated[bool, typer.Option("--failed", help="The cases that failed.")] = False,
    workers: Workers = None,
    blender: Blender = None,
    approve: Approve = None,
    parquet: AsParquet = False,
    engine: FleetEngine = None,
    json: JsonLines = False,
) -> int:
    """Run the cases that failed once more, and whatever is open. What the batch was allowed beforehand has to be allowed again."""
    if not failed:
        raise Refusal.of(Fault.ARGS_INVALID, "it must be said what to run again", "Give --failed.")
    if engine is not None and (blender is not None or approve):
        message = "with --engine, each worker says itself what Blender it has and what it allows"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Leave --blender and --approve out, and give them to `worker`.")
    if engine is not None:
        return require_fleet().retry(engine, directory, json=json)
    place = BatchDirectory(Path(directory).resolve())
    place.require()
    with place.locked(), open_results(str(place.results)) as results:
        batch = results.batch()
        assert batch is not None
        blender = consented_blender(blender, batch.blender, str(place.results))
        if further := set(consented_grants(approve or (), batch.approve, str(place.results))) - {*batch.approve}:
            message = f"the batch was run without --approve {', '.join(sorted(further))}"
            raise Refusal.of(Fault.ARGS_INVALID, message, "Run it again with `batch run` and this --approve.")
        results.retry_failed(batch.id)
    return _run(batch, None, place, workers, blender, parquet=parquet, json=json)


@batch_app.command("show")
def show_command(
    directory: Directory,
    case: Annotated[str, typer.Argument(metavar="CASE", help="Its number, or the beginning of its key.")],
    engine: FleetEngine = None,
    json: AsJson = False,
) -> int:
    """Show one case: its parameters, what became of it, its files and how long it took."""
    place = BatchDirectory(Path(directory).resolve())
    if engine is None:
        place.require()
    with (
        open_results(str(place.results))
        if engine is None
        else require_fleet().open_results(engine, directory) as results
    ):
        standing = results.standing(int(case) if case.isdecimal() and len(case) < 16 else case)
    if standing is None:
        cure = "results.csv lists the cases with their numbers."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no case {case[:70]} in {directory}", cure)
    return present(json, lambda: _standing_document(standing), lambda out: _show_standing(out, standing, place))


def _standing_document(standing: Standing) -> dict[str, Any]:
    case = standing.case
    head = {"number": case.number, "key": case.key, "params": dict(case.params), "status": standing.status}
    return {**head, "attempts": standing.attempts, "row": None if standing.row is None else standing.row.to_json()}


def _show_standing(out: SafeConsole, standing: Standing, place: BatchDirectory) -> None:
    case, row = standing.case, standing.row
    style = {"done": "bold green", "failed": "bold red"}.get(standing.status, "bold yellow")
    out.labelled(standing.status, f"case {case.name}{f', {case.source}' if case.source else ''}", style)
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
    out.show(f"  times   {', '.join(f'{name} {seconds:g} s' for name, seconds in row.times.items())}", "dim")
    out.show(f"  reused  {row.reused} of {row.operations} operations; attempt {row.attempts} on {row.worker}", "dim")


batch_app.command("export")(export_command)
for _name, _command in COMMANDS.offers():
    batch_app.command(_name)(_command)

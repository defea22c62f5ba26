"""blendwright batch run, status, retry, show: one program for every row of a table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from blendwright.batch.coordinator import BatchRun, RunSummary
from blendwright.batch.definition import KEEPS, Keep
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.engines.engine import JobReport
from blendwright.batch.engines.local_pool import LocalPool
from blendwright.batch.locations import open_results
from blendwright.batch.making import output_of
from blendwright.batch.preparing import prepare
from blendwright.batch.tables import Row, seed_rows, table_rows
from blendwright.cli.options import Approve, AsJson, Blender, Set
from blendwright.cli.output import Exit, SafeConsole, present
from blendwright.cli.parameters import argument, option
from blendwright.cli.plan_files import parameters
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

batch_app = typer.Typer(
    help="Run a program for every row of a table, in several Blenders at once, and go on after anything.",
    no_args_is_help=True,
)


@batch_app.command("run")
def run_command(
    program: Annotated[str, argument("PROGRAM", "A program (.star), a plan or a batch file (.json).")],
    out: Annotated[Path, option("--out DIR", "Where outputs and results go; the same again goes on.")],
    seeds: Annotated[str | None, option("--seeds FIRST:END", "One case for each seed; END is not among them.")] = None,
    params: Annotated[Path | None, option("--params TABLE", "One case for each row: .csv, .jsonl or .parquet.")] = None,
    set: Set = None,
    workers: Annotated[int | None, option("--workers N", "Blenders at once; as many as processors.", min=1)] = None,
    output: Annotated[list[str] | None, option("--output KIND", "blend, glb, usd, fbx, picture or still.")] = None,
    keep: Annotated[str, option(f"--keep {'|'.join(KEEPS)}", "What becomes of the workspaces of cases.")] = "drop",
    blender: Blender = None,
    approve: Approve = None,
    json: AsJson = False,
) -> int:
    """Run every case that is not done yet."""
    outputs = tuple(output_of(kind) for kind in (output or ["blend", "picture"]))
    prepared = prepare(
        Path(program),
        _rows(seeds, params),
        common=parameters(set),
        outputs=outputs,
        directory=out.resolve(),
        keep=_keep(keep),
        blender=blender,
        approve=tuple(approve or ()),
    )
    engine = LocalPool(blender)
    run = BatchRun(prepared.batch, BatchDirectory(out.resolve()), engine)

    def progress(report: JobReport | None) -> None:
        pass

    summary = run.run(prepared.rows, workers or os.cpu_count() or 1, progress)
    return present(json, lambda: _document(summary), lambda shown: _show(shown, summary), _exit(summary))


def _rows(seeds: str | None, params: Path | None) -> Iterator[Row]:
    if seeds is not None and params is not None:
        raise Refusal.of(Fault.ARGS_INVALID, "--seeds and --params are two tables", "Give one of them.")
    if seeds is not None:
        return seed_rows(seeds)
    return table_rows(params) if params is not None else iter([({}, "")])


def _keep(text: str) -> Keep:
    match text:
        case "keep" | "compact" | "drop":
            return text
        case _:
            raise typer.BadParameter(f"'{text}' is not one of {', '.join(KEEPS)}.")


def _document(summary: RunSummary) -> dict[str, Any]:
    counts = summary.counts
    return {
        "ok": summary.ok, "batch": summary.batch, "cases": counts.total, "done": counts.done, "failed": counts.failed,
        "open": counts.open, "added": summary.added, "finished_before": summary.finished_before,
    }  # fmt: skip


def _show(out: SafeConsole, summary: RunSummary) -> None:
    counts = summary.counts
    out.show(f"{counts.done} of {counts.total} cases done, {counts.failed} failed, {counts.open} open")


def _exit(summary: RunSummary) -> Exit:
    return Exit.DONE if summary.ok else Exit.FAILED


@batch_app.command("status")
def status_command(
    directory: Annotated[Path, argument("DIR", "As --out of `batch run`.")], json: AsJson = False
) -> int:
    """Show how far a batch is; it may be running."""
    place = BatchDirectory(directory.resolve())
    place.require()
    with open_results(str(place.results)) as results:
        batch = results.batch()
        assert batch is not None
        summary = RunSummary(batch.id, results.counts(batch.id), 0, 0)
    return present(json, lambda: _document(summary), lambda out: _show(out, summary))

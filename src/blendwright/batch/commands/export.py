"""The command `blendwright batch export`, which writes a batch as a job for another scheduler."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from blendwright.batch.farm_formats import FARM_FILES, FarmBatch, FarmFormat
from blendwright.batch.input.prepare import prepare
from blendwright.batch.input.tables import seed_rows, table_rows
from blendwright.batch.outputs.makers import output_of
from blendwright.cli.options import Approve, AsJson, Set
from blendwright.cli.output import SafeConsole, present
from blendwright.cli.plan_files import parameters
from blendwright.util import no_follow
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault


def export_command(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM", help="A program (.star).")],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="Where each task creates its own output directory.")],
    to: Annotated[
        Path,
        typer.Option(
            "--to", metavar="DIR", help="Where the files for the farm go: the job, the program and its table."
        ),
    ],
    format: Annotated[FarmFormat, typer.Option("--format", help="The format that the farm reads.")] = "openjd",
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", metavar="FIRST:END", help="Run a case for each seed from FIRST to END - 1."),
    ] = None,
    params: Annotated[
        Path | None,
        typer.Option("--params", metavar="TABLE", help="Run a case for each row of a .csv, .jsonl or .parquet file."),
    ] = None,
    set: Set = None,
    output: Annotated[
        list[str] | None, typer.Option("--output", metavar="KIND", help="As for `batch run`; repeatable.")
    ] = None,
    approve: Approve = None,
    per_task: Annotated[
        int, typer.Option("--per-task", metavar="N", help="The number of cases in one task of the farm.", min=1)
    ] = 10,
    json: AsJson = False,
) -> int:
    """Write a batch as a job for a farm: an Open Job Description template, or a Flamenco job. Runs nothing."""
    if seeds is not None and params is None:
        rows, table = seed_rows(seeds), ("--seeds", seeds)
    elif params is not None and seeds is None:
        rows, table = table_rows(params), ("--params", params.name)
    else:
        raise Refusal.of(Fault.ARGS_INVALID, "the batch needs exactly one table of cases", "Pass --seeds or --params.")
    prepared = prepare(
        program,
        rows,
        common=parameters(set),
        outputs=tuple(output_of(kind) for kind in (output or ())),
        directory=Path.cwd(),
        approve=tuple(approve or ()),
    )
    options: list[str] = []
    for name, values in (("--set", set), ("--output", output), ("--approve", approve)):
        for value in values or ():
            options += (name, value)
    case_count = sum(1 for _ in prepared.rows)
    folder = to.resolve()
    batch = FarmBatch(
        program.stem, str(folder), program.name, table, tuple(options), case_count, per_task, out.rstrip("/")
    )
    source = prepared.batch.source
    files = {**source.libraries, program.name: source.text, **FARM_FILES[format](batch)}

    written = [str(path) for path in _write(folder, files)]
    if params is not None:
        with params.open("rb") as opened:
            _replace(folder / params.name, opened)
        written.append(str(folder / params.name))
    document = {"ok": True, "cases": case_count, "tasks": -(-case_count // per_task), "files": written}

    def show(shown: SafeConsole) -> None:
        for path in written:
            shown.show(f"wrote {path}")

    return present(json, lambda: document, show)


def _write(folder: Path, files: dict[str, str]) -> list[Path]:
    """Write the files next to the job and return their paths. Raise Refusal if the program loads a library from outside its folder."""
    paths = [Path(os.path.normpath(folder / name)) for name in files]
    outside = next((path for path in paths if not path.is_relative_to(folder)), None)
    if outside is not None:
        message = f"the program loads {outside.name} from outside its folder"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Move the libraries next to the program or below it.")
    for path, text in zip(paths, files.values(), strict=True):
        with tempfile.TemporaryFile() as content:
            content.write(text.encode())
            content.flush()
            content.seek(0)
            _replace(path, content)
    return paths


def _replace(path: Path, content: BinaryIO) -> None:
    """Write a file and replace an existing one. Replace a symbolic link itself, not its target. Raise EnvironmentUnfit."""
    try:
        with no_follow.open_directory(path.parent, make=0o777) as directory:
            no_follow.write_whole(directory, path.name, content)
    except OSError as error:
        fix = "Choose another --to."
        raise EnvironmentUnfit(f"{path} cannot be written: {error.strerror}", cure=fix) from error

"""blendwright batch export: a batch as a job for somebody else's farm."""

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
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="Where tasks write to, each into a directory of its own.")
    ],
    to: Annotated[
        Path,
        typer.Option(
            "--to", metavar="DIR", help="Where the files for the farm go: the job, the program and its table."
        ),
    ],
    format: Annotated[FarmFormat, typer.Option("--format", help="What the farm reads.")] = "openjd",
    seeds: Annotated[
        str | None, typer.Option("--seeds", metavar="FIRST:END", help="A case for each seed; END is not among them.")
    ] = None,
    params: Annotated[
        Path | None, typer.Option("--params", metavar="TABLE", help="A case for each row: .csv, .jsonl or .parquet.")
    ] = None,
    set: Set = None,
    output: Annotated[
        list[str] | None, typer.Option("--output", metavar="KIND", help="As with `batch run`; may be repeated.")
    ] = None,
    approve: Approve = None,
    per_task: Annotated[
        int, typer.Option("--per-task", metavar="N", help="Cases in one task of the farm.", min=1)
    ] = 10,
    json: AsJson = False,
) -> int:
    """Write a batch as a job for a farm: an Open Job Description template, or a job of Flamenco. Nothing is run."""
    if (seeds is None) == (params is None):
        raise Refusal.of(Fault.ARGS_INVALID, "one table of cases is needed", "Give --seeds or --params.")
    if seeds is not None:
        table = ("--seeds", seeds)
    else:
        table = ("--params", str(params))
    if seeds is not None:
        rows = seed_rows(seeds)
    else:
        rows = table_rows(Path(table[1]))
    prepared = prepare(
        program,
        rows,
        common=parameters(set),
        outputs=tuple(output_of(kind) for kind in (output or ())),
        directory=Path.cwd(),
        approve=tuple(approve or ()),
    )
    given = {"--set": set, "--output": output, "--approve": approve}
    options = tuple(part for name, values in given.items() for value in values or () for part in (name, value))
    cases = sum(1 for _ in prepared.rows)
    if params is not None:
        table = ("--params", params.name)
    folder = to.resolve()
    batch = FarmBatch(program.stem, str(folder), program.name, table, options, cases, per_task, out.rstrip("/"))
    source = prepared.batch.source
    files = {**source.libraries, program.name: source.text, **FARM_FILES[format](batch)}
    written = [str(path) for path in _write(folder, files)]
    if params is not None:
        with params.open("rb") as opened:
            _write_whole(folder / params.name, opened)
        written.append(str(folder / params.name))
    document = {"ok": True, "cases": cases, "tasks": -(-cases // per_task), "files": written}

    def show(shown: SafeConsole) -> None:
        for path in written:
            shown.show(f"wrote {path}")

    return present(json, lambda: document, show)


def _write(folder: Path, files: dict[str, str]) -> list[Path]:
    """Everything that a task reads lies beside the job: the program with the libraries that it loads, and the table."""
    paths = [Path(os.path.normpath(folder / name)) for name in files]
    outside = next((path for path in paths if not path.is_relative_to(folder)), None)
    if outside is not None:
        cure = "Put the libraries of the program beside it, or below."
        raise Refusal.of(
            Fault.ARGS_INVALID, f"{outside.name} is loaded from outside of the folder of the program", cure
        )
    for path, text in zip(paths, files.values(), strict=True):
        with tempfile.TemporaryFile() as content:
            content.write(text.encode())
            content.flush()
            content.seek(0)
            _write_whole(path, content)
    return paths


def _write_whole(path: Path, content: BinaryIO) -> None:
    """What is there is replaced, and a link too: what it leads to is not ours to write. Raises EnvironmentUnfit."""
    try:
        with no_follow.open_directory(path.parent, make=0o777) as directory:
            no_follow.write_whole(directory, path.name, content)
    except OSError as error:
        raise EnvironmentUnfit(f"{path} cannot be written: {error.strerror}", cure="Name another --to.") from error

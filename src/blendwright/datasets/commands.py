"""The command `blendwright batch dataset`, which writes a training data set from the annotated cases of a batch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blendwright.batch.commands.options import AsJson, Directory
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.outputs.locations import open_results
from blendwright.cli.output import SafeConsole, present
from blendwright.datasets.samples import annotated_cases
from blendwright.datasets.write import FORMATS, write_dataset


def dataset_command(
    directory: Directory,
    form: Annotated[str, typer.Option("--format", metavar=f"{'|'.join(FORMATS)}", help="The format of the data set.")],
    to: Annotated[
        Path,
        typer.Option(
            "--to", metavar="PATH", help="Where the data set goes; the same command resumes an interrupted one."
        ),
    ],
    json: AsJson = False,
) -> int:
    """Write a training data set from the annotated cases (`--output annotations`), ordered by their numbers."""
    batch_directory = BatchDirectory(Path(directory).resolve())
    batch_directory.require()
    if form not in FORMATS:
        raise typer.BadParameter(f"'{form}' is not one of {', '.join(FORMATS)}.")
    chosen = FORMATS[FORMATS.index(form)]
    target = to.resolve()
    with open_results(str(batch_directory.results)) as results:
        batch = results.batch()
        assert batch is not None
        written = write_dataset(lambda: annotated_cases(results.rows(batch.id)), chosen, target)

    def show(out: SafeConsole) -> None:
        out.labelled("dataset", f"{written.cases} cases, {len(written.categories)} categories", "bold green")
        out.show(f"  wrote   {target}")

    document = {
        "ok": True,
        "format": chosen,
        "path": str(target),
        "cases": written.cases,
        "categories": written.categories,
    }
    return present(json, lambda: document, show)


COMMAND = ("dataset", dataset_command)

"""blendwright batch dataset: write a data set from the annotated cases of a batch."""

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
    form: Annotated[str, typer.Option("--format", metavar=f"{'|'.join(FORMATS)}", help="What to write.")],
    to: Annotated[
        Path, typer.Option("--to", metavar="PATH", help="Where it goes; the same again goes on after an interruption.")
    ],
    json: AsJson = False,
) -> int:
    """Write a data set for training from the cases that were annotated (`--output annotations`), in the order of their numbers."""
    place = BatchDirectory(Path(directory).resolve())
    place.require()
    if form in FORMATS:
        chosen = FORMATS[FORMATS.index(form)]
    else:
        chosen = None
    if chosen is None:
        raise typer.BadParameter(f"'{form}' is not one of {', '.join(FORMATS)}.")
    target = to.resolve()
    with open_results(str(place.results)) as results:
        batch = results.batch()
        assert batch is not None
        written = write_dataset(lambda: annotated_cases(results.rows(batch.id)), chosen, target)

    def show(out: SafeConsole) -> None:
        out.labelled("dataset", f"{written.cases} cases, {len(written.categories)} categories", "bold green")
        out.show(f"  wrote   {target}")

    told = {"ok": True, "format": chosen, "path": str(target), "cases": written.cases, "categories": written.categories}
    return present(json, lambda: told, show)


COMMAND = ("dataset", dataset_command)

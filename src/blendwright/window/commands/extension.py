"""The command `blendwright extension`, which writes the extension that `attach` needs in a Blender with windows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blendwright.cli.output import SafeConsole, present
from blendwright.values.errors import EnvironmentUnfit
from blendwright.window.extension_file import write_extension

INSTALL = "In Blender: Edit, Preferences, Get Extensions, the arrow in the corner, Install from Disk, and this file."


def extension(
    output: Annotated[
        Path,
        typer.Option("--output", metavar="ZIP|DIR", help="The output file or directory. An existing file is replaced."),
    ] = Path(),
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on standard output, nothing else.")
    ] = False,
) -> int:
    """Write the extension for a Blender that you have open: one file for Blender 4.2 to 5.2 on every system."""
    try:
        written = write_extension(output)
    except OSError as error:
        raise EnvironmentUnfit(
            f"{output} cannot be written: {error.strerror}", cure="Pass another path with --output."
        ) from error
    size = written.stat().st_size

    def show(out: SafeConsole) -> None:
        out.show(f"wrote {written} ({size} bytes)")
        out.show(INSTALL, "dim")

    return present(json, lambda: {"ok": True, "file": str(written), "bytes": size}, show)

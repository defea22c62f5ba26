"""Options that several commands of `batch` share."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON on standard output.")]
JsonLines = Annotated[
    bool, typer.Option("--json", help="Print one line of JSON for every case, and a summary at the end.")
]
Directory = Annotated[str, typer.Argument(metavar="DIR|URL", help="The value of --out of `batch run`.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", help="Blenders that run at the same time; by default one per processor.", min=1
    ),
]
AsParquet = Annotated[bool, typer.Option("--parquet", help="Write results.parquet, too.")]

"""Options that several commands of a batch have."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, nothing else.")]
JsonLines = Annotated[
    bool, typer.Option("--json", help="Print a line of JSON for every case, and one for the whole at the end.")
]
Directory = Annotated[str, typer.Argument(metavar="DIR|URL", help="What `batch run` had as --out.")]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", help="How many Blenders at once; as many as processors.", min=1)
]
AsParquet = Annotated[bool, typer.Option("--parquet", help="Write results.parquet as well.")]

"""python -m bench [FILE.json]: measures everything, prints the table, and writes it as JSON."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

Rows = Iterable[dict[str, Any]]


def main(target: Path | None) -> int:
    from bench import (
        audits,
        bake,
        batch,
        blenders,
        fingerprint,
        geonodes,
        long_sessions,
        pictures,
        programs,
        python,
        runs,
        server,
        shaders,
        steps,
        terminal,
        uv,
        window,
    )
    from bench.fleet import overhead

    parts: tuple[Callable[[], Rows], ...] = (
        fingerprint.measure,
        audits.measure,
        steps.measure,
        runs.measure,
        terminal.measure,
        programs.measure,
        long_sessions.measure,
        geonodes.measure,
        shaders.measure,
        uv.measure,
        bake.measure,
        python.measure,
        server.measure,
        pictures.measure,
        blenders.measure,
        window.measure,
        overhead.measure,
        batch.measure,
    )
    rows = [row for part in parts for row in part()]
    table = Table("what", "measured", "limit", "")
    for row in rows:
        limit = "" if row["limit"] is None else f"{row['limit']:g} {row['unit']}"
        table.add_row(row["what"], f"{row['value']:g} {row['unit']}", limit, "" if row["ok"] else "OVER")
    Console(width=120).print(table)
    if target is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps({"machine": platform.machine(), "rows": rows}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))

"""python -m bench.trial: replays every transcript and runs the bare code, and prints what each costs a model.

Bytes are the name and arguments of each call that a model sends, and the texts that it reads; pictures, which both sides can look at, are
not counted. What a host shows its model before the first call (instructions and list of tools) is counted for neither side, and told
below the table for both.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import anyio
from rich.console import Console
from rich.table import Table

from bench.trial.bare_blender import BareBlender
from bench.trial.recorder import host
from bench.trial.trial import TASKS, Outcome, bare_blender, through_the_server, with_bare_python

SERVER, BARE = "server", "bare Python"


def main() -> int:
    table = Table("task", "way", "calls", "failed", "bytes sent", "bytes received", "both", "scene")
    outcomes: dict[str, list[Outcome]] = {SERVER: [], BARE: []}
    with tempfile.TemporaryDirectory() as place, bare_blender(Path(place)) as blender:
        for task in TASKS:
            print(task, file=sys.stderr, flush=True)
            directories = {way: Path(place, f"{task} {way}") for way in outcomes}
            for directory in directories.values():
                directory.mkdir()
            outcomes[SERVER].append(through_the_server(task, directories[SERVER], blender))
            outcomes[BARE].append(with_bare_python(task, directories[BARE], blender))
            for way, done in outcomes.items():
                table.add_row(task, way, *_figures(done[-1:]))
        before = anyio.run(_first_bytes, Path(place))
    for way, done in outcomes.items():
        table.add_row("all", way, *_figures(done))
    console = Console(width=120)
    console.print(table)
    console.print(
        f"Not counted above, for neither side: pictures, and what is shown before the first call "
        f"(server: {before} bytes of instructions and list of tools, once a session; bare Python: {len(BareBlender.FIRST_TEXT)})."
    )
    return int(any(outcome.wrong for done in outcomes.values() for outcome in done))


async def _first_bytes(directory: Path) -> int:
    async with host(directory) as connection:
        return len((await connection.first_text()).encode())


def _figures(outcomes: list[Outcome]) -> list[str]:
    sent, received = sum(one.sent for one in outcomes), sum(one.received for one in outcomes)
    wrong = "; ".join(sentence for one in outcomes for sentence in one.wrong)
    counts = [sum(len(one.calls) for one in outcomes), sum(one.failed for one in outcomes)]
    return [*map(str, counts), *(f"{size:,}" for size in (sent, received, sent + received)), wrong or "right"]


if __name__ == "__main__":
    sys.exit(main())

"""python -m bench.trial: replays every transcript and runs the bare code, and prints what each costs a model."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.trial.trial import TASKS, Outcome, bare_blender, through_the_server, with_bare_python


def main() -> int:
    table = Table("task", "way", "calls", "failed", "kB sent", "kB received", "kB both", "scene")
    totals: dict[str, list[Outcome]] = {"server": [], "bare Python": []}
    with tempfile.TemporaryDirectory() as place, bare_blender(Path(place)) as blender:
        for task in TASKS:
            directory = Path(place, task)
            directory.mkdir()
            totals["server"].append(through_the_server(task, directory, blender))
            totals["bare Python"].append(with_bare_python(task, blender))
            for way, outcomes in totals.items():
                table.add_row(task, way, *_figures(outcomes[-1:]))
    for way, outcomes in totals.items():
        table.add_row("all", way, *_figures(outcomes))
    Console(width=120).print(table)
    return int(any(outcome.wrong for outcomes in totals.values() for outcome in outcomes))


def _figures(outcomes: list[Outcome]) -> list[str]:
    sent, received = sum(one.sent for one in outcomes), sum(one.received for one in outcomes)
    wrong = "; ".join(sentence for one in outcomes for sentence in one.wrong)
    counts = [sum(len(one.calls) for one in outcomes), sum(one.failed for one in outcomes)]
    kilobytes = [f"{size / 1000:.1f}" for size in (sent, received, sent + received)]
    return [*map(str, counts), *kilobytes, wrong or "right"]


if __name__ == "__main__":
    sys.exit(main())

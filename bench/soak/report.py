"""What the samples of a soak say: throughput by minute, and a slope for everything that should stay as it is."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.soak.probes import Sample

# The scene stays as large as it was, so these may not grow; what grows with the history is listed beside them.
STEADY = (
    "core_mb",
    "core_anonymous_mb",
    "core_descriptors",
    "core_threads",
    "workers",
    "worker_mb",
    "worker_descriptors",
    "scratch_entries",
    "scratch_mb",
)
# These have one of a few values in each look, by what the workers did last, and go back to the least of them: least squares would take the
# order of chance for growth. The median of all slopes between two looks sees the least of them grow, and not the order.
IN_STATES = frozenset({"scratch_entries", "scratch_mb"})
WITH_HISTORY = ("commits", "journal_mb", "checkpoints_mb")
MOST_PERCENT_PER_HOUR = 2.0
LEAST_THROUGHPUT = 0.9
# Less than this says nothing about an hour: memory settles first.
ENOUGH_MINUTES = 30.0
# The first part is for warming up: caches fill, the first workers start.
WARMING = 0.2


def report(samples: Sequence[Sample], minutes: float, done: dict[str, int], unexpected: list[str]) -> dict[str, Any]:
    """The whole of it as a document; `ok` is None where the time was too short to judge."""
    settled = [one for one in samples if one.seconds >= WARMING * minutes * 60]
    slopes = {name: slope(settled, name) for name in (*STEADY, *WITH_HISTORY)}
    by_minute = throughput_by_minute(samples)
    share = _end_of_beginning(by_minute)
    steady = all(_allowed(slopes[name]) for name in STEADY)
    judged = minutes >= ENOUGH_MINUTES and share is not None
    return {
        "minutes": minutes,
        "operations": samples[-1].operations if samples else 0,
        "done": done,
        "unexpected": unexpected,
        "operations_per_second_by_minute": by_minute,
        "throughput_end_of_beginning": share,
        "slopes": slopes,
        "limits": {"percent_per_hour": MOST_PERCENT_PER_HOUR, "throughput": LEAST_THROUGHPUT},
        "ok": (steady and share is not None and share >= LEAST_THROUGHPUT) if judged else None,
        "samples": [one.to_json() for one in samples],
    }


def slope(samples: Sequence[Sample], name: str) -> dict[str, float | None]:
    """How much more there is of it after an hour, by least squares or by the median of slopes: in its own unit, in percent of its mean, and
    for 1,000 commits."""
    values = [float(getattr(one, name)) for one in samples]
    if len(values) < 3 or samples[0].seconds == samples[-1].seconds:
        return {
            "mean": values[-1] if values else None,
            "per_hour": None,
            "percent_per_hour": None,
            "per_1000_commits": None,
        }
    of = _median_slope if name in IN_STATES else _least_squares
    per_hour = of([one.seconds / 3600 for one in samples], values)
    mean = statistics.fmean(values)
    commits = [float(one.commits) for one in samples]
    return {
        "mean": round(mean, 3),
        "per_hour": round(per_hour, 3),
        "percent_per_hour": round(100 * per_hour / mean, 2) if mean else None,
        "per_1000_commits": round(of(commits, values) * 1000, 4) if len(set(commits)) > 1 else None,
    }


def _least_squares(places: Sequence[float], values: Sequence[float]) -> float:
    return statistics.linear_regression(places, values).slope


def _median_slope(places: Sequence[float], values: Sequence[float]) -> float:
    points = [*zip(places, values, strict=True)]
    return statistics.median(
        (later - earlier) / (there - here)
        for (here, earlier), (there, later) in combinations(points, 2)
        if there != here
    )


def throughput_by_minute(samples: Sequence[Sample]) -> list[float]:
    """Operations in a second, minute by minute; the last one may be a part of a minute."""
    found: list[float] = []
    start = samples[0] if samples else None
    for one in samples:
        if start is not None and (one.seconds - start.seconds >= 60 or (one is samples[-1] and one is not start)):
            found.append(round((one.operations - start.operations) / (one.seconds - start.seconds), 2))
            start = one
    return found


def _end_of_beginning(by_minute: Sequence[float]) -> float | None:
    """The last quarter as a share of the first, without the first minute, in which Blender starts."""
    counted = by_minute[1:] if len(by_minute) > 4 else by_minute
    quarter = max(1, len(counted) // 4)
    if len(counted) < 2 or not (first := statistics.fmean(counted[:quarter])):
        return None
    return round(statistics.fmean(counted[-quarter:]) / first, 3)


def _allowed(found: dict[str, float | None]) -> bool:
    percent = found["percent_per_hour"]
    return percent is None or percent <= MOST_PERCENT_PER_HOUR


def show(document: dict[str, Any]) -> None:
    console = Console(width=120)
    table = Table("what", "mean", "per hour", "% per hour", "per 1,000 commits", "")
    for name, found in document["slopes"].items():
        over = "" if name in WITH_HISTORY or _allowed(found) else "GROWS"
        table.add_row(
            name,
            *(
                "" if found[key] is None else f"{found[key]:g}"
                for key in ("mean", "per_hour", "percent_per_hour", "per_1000_commits")
            ),
            over,
        )
    console.print(table)
    rates = " ".join(f"{rate:g}" for rate in document["operations_per_second_by_minute"])
    console.print(f"operations/s by minute: {rates}")
    console.print(
        f"end / beginning: {document['throughput_end_of_beginning']}, {document['operations']} operations, {document['done']}"
    )
    for line in document["unexpected"]:
        console.print(f"unexpected: {line}")
    verdict = {True: "steady", False: "NOT steady", None: f"too short to judge (from {ENOUGH_MINUTES:g} minutes on)"}
    console.print(verdict[document["ok"]])

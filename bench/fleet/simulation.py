"""A fleet on paper: machines whose lanes ask one database for claims, rows and jobs, event by event, with costs that were measured.

The database is so many processors that work off what they are asked in order; an answer also waits for the disk once. What a lane does
between two questions is its case. A window of the run is simulated, which is enough to see what is full; the rest is arithmetic.
"""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass
from typing import Literal

from bench.fleet.figures import Cost, Figures

Question = Literal["job", "claim", "row", "heartbeat"]
CLAIMED_TOGETHER = 0.25
"""What one of many rows of a statement costs, of what a statement for one costs. Assumed: parsing, planning and the commit are shared."""
SHORTEST = 0.1
"""Of the mean: no case takes less."""
MEAN = SHORTEST + math.exp(-SHORTEST)
"""Of max(SHORTEST, x), for x of an exponential distribution with mean 1."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """`case_seconds` is the mean of an exponential distribution, cut at a tenth of it below; a machine dies once in `mtbf_hours`."""

    machines: int = 1000
    lanes: int = 4
    case_seconds: float = 1.0
    cases_per_job: int = 50
    database_cores: int = 8
    disk_ms: float = 1.0
    stalled_after: float = 60.0
    mtbf_hours: float = 24.0
    claims_by_job: bool = False
    """Claim all cases of a job in one statement instead of one by one."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a window of the run showed: cases in a second, how busy the database was, how long a question took, what was done twice."""

    cases_per_second: float
    ideal_per_second: float
    database_busy: float
    answer_ms: float
    slowest_percent_ms: float
    done_twice: float
    log_mb_per_second: float

    @property
    def efficiency(self) -> float:
        return self.cases_per_second / self.ideal_per_second


class Database:
    """A queue with several servers: asked at some time, it answers at a later one."""

    def __init__(self, cores: int, disk_ms: float) -> None:
        self._free = [0.0] * cores
        self._disk = disk_ms / 1000
        self.busy = 0.0
        self.waits: list[float] = []
        self.log_bytes = 0.0

    def forget(self) -> None:
        """What was before is not looked at."""
        self.busy = self.log_bytes = 0.0
        self.waits.clear()

    def answer(self, now: float, cost: Cost) -> float:
        """When the answer is there. Questions come in the order of their times."""
        begins = max(now, heapq.heappop(self._free))
        ends = begins + cost.cpu_ms / 1000
        heapq.heappush(self._free, ends)
        self.busy += cost.cpu_ms / 1000
        self.log_bytes += cost.log_bytes
        self.waits.append(ends + self._disk - now)
        return ends + self._disk


def questions(fleet: Fleet, figures: Figures) -> dict[Question, Cost]:
    """What each question costs, by measured parts: a job is ended and the next fetched; before a row comes `holds`, which writes nothing;
    with heartbeats come looks at the jobs of others, at every third or so."""
    claim, row = figures.claim, figures.publish
    job = Cost(figures.finish.cpu_ms + figures.fetch.cpu_ms, figures.finish.log_bytes + figures.fetch.log_bytes)
    if fleet.claims_by_job:
        job = Cost(
            job.cpu_ms + fleet.cases_per_job * claim.cpu_ms * CLAIMED_TOGETHER,
            job.log_bytes + fleet.cases_per_job * claim.log_bytes,
        )
        claim = Cost(0.0, 0.0)
    return {
        "job": job,
        "claim": claim,
        "row": Cost(row.cpu_ms + figures.claim.cpu_ms / 2, row.log_bytes),
        "heartbeat": Cost(figures.heartbeat.cpu_ms + figures.look_after.cpu_ms / 3, figures.heartbeat.log_bytes),
    }


def simulate(fleet: Fleet, figures: Figures, seconds: float, seed: int = 1) -> Outcome:
    """Lanes begin within one heartbeat of each other, as after a start of the whole fleet; from then on `seconds` are looked at."""
    chance = random.Random(seed)
    database = Database(fleet.database_cores, fleet.disk_ms)
    lanes = fleet.machines * fleet.lanes
    beat = fleet.stalled_after / 6
    # What is asked next: when, by whom, what, and how many cases of its job a lane has left.
    events: list[tuple[float, int, Question, int]] = []
    for lane in range(lanes):
        events.append((chance.uniform(0, beat), lane, "job", 0))
    for machine in range(fleet.machines):
        events.append((chance.uniform(0, beat), machine, "heartbeat", 0))
    heapq.heapify(events)
    costs = questions(fleet, figures)
    done, dead_per_second = 0, fleet.machines / (fleet.mtbf_hours * 3600)
    begins = beat + 2 * fleet.case_seconds
    while events:
        now, who, question, left = heapq.heappop(events)
        if now >= begins + seconds:
            break
        if now < begins:
            done = 0
            database.forget()
        answered = database.answer(now, costs[question])
        following: tuple[float, int, Question, int]
        match question:
            case "heartbeat":
                following = (now + beat, who, question, 0)
            case "job":
                following = (answered, who, "claim", fleet.cases_per_job)
            case "claim":
                spent = fleet.case_seconds * max(SHORTEST, chance.expovariate(1.0))
                following = (answered + spent, who, "row", left)
            case "row":
                done += 1
                following = (answered, who, "claim" if left > 1 else "job", left - 1)
        heapq.heappush(events, following)
    # Whoever dies loses the cases under way, and nobody does the rest of its jobs until it counts as lost.
    twice = dead_per_second * seconds * fleet.lanes
    waits = sorted(database.waits)
    mean_case = fleet.case_seconds * MEAN
    return Outcome(
        done / seconds,
        lanes / mean_case,
        database.busy / (seconds * fleet.database_cores),
        1000 * waits[len(waits) // 2],
        1000 * waits[len(waits) * 99 // 100],
        twice / max(done, 1),
        database.log_bytes / seconds / 1e6,
    )

"""A fleet on paper: machines whose lanes ask one database for claims, rows and jobs, event by event, with costs that were measured.

The database is so many processors that work off what they are asked in order; an answer also waits for the disk once. Everything a lane does
between two questions is its case. A window of the run is simulated, which is enough to see what is full; the rest is arithmetic.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass

from bench.fleet.figures import Figures


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

    def answer(self, now: float, cpu_ms: float, log_bytes: float) -> float:
        begins = max(now, heapq.heappop(self._free))
        ends = begins + cpu_ms / 1000
        heapq.heappush(self._free, ends)
        self.busy += cpu_ms / 1000
        self.log_bytes += log_bytes
        self.waits.append(ends + self._disk - now)
        return ends + self._disk


def simulate(fleet: Fleet, figures: Figures, seconds: float, seed: int = 1) -> Outcome:
    """Lanes begin within one heartbeat of each other, as after a start of the whole fleet."""
    chance = random.Random(seed)
    database = Database(fleet.database_cores, fleet.disk_ms)
    lanes = fleet.machines * fleet.lanes
    beat = fleet.stalled_after / 6
    # What is to happen: when, who, and how many cases of its job a lane has left; -1 is a heartbeat of a machine.
    events: list[tuple[float, int, int]] = [(chance.uniform(0, beat), lane, 0) for lane in range(lanes)]
    events += [(chance.uniform(0, beat), machine, -1) for machine in range(fleet.machines)]
    heapq.heapify(events)
    done, twice, dead_per_second = 0, 0.0, fleet.machines / (fleet.mtbf_hours * 3600)
    while events:
        now, who, left = heapq.heappop(events)
        if now >= seconds:
            break
        if left < 0:
            # A heartbeat, and every third or so a look at the jobs of others.
            spent = figures.heartbeat.cpu_ms + figures.look_after.cpu_ms / 3
            database.answer(now, spent, figures.heartbeat.log_bytes)
            heapq.heappush(events, (now + beat, who, -1))
            continue
        if left == 0:
            cost = figures.finish.cpu_ms + figures.fetch.cpu_ms
            now = database.answer(now, cost, figures.finish.log_bytes + figures.fetch.log_bytes)
            left = fleet.cases_per_job
            if fleet.claims_by_job:
                many = left * figures.claim.cpu_ms * CLAIMED_TOGETHER
                now = database.answer(now, many, left * figures.claim.log_bytes)
        if not fleet.claims_by_job:
            now = database.answer(now, figures.claim.cpu_ms, figures.claim.log_bytes)
        now += fleet.case_seconds * max(0.1, chance.expovariate(1.0))
        # `holds`, before outputs are published, and then the row.
        now = database.answer(now, figures.publish.cpu_ms + figures.claim.cpu_ms / 2, figures.publish.log_bytes)
        done += 1
        heapq.heappush(events, (now, who, left - 1))
    # Whoever dies loses the cases under way, and nobody does the rest of its jobs until it counts as lost.
    twice = dead_per_second * seconds * fleet.lanes
    waits = sorted(database.waits)
    mean_case = fleet.case_seconds * MEAN_OF_CUT
    return Outcome(
        done / seconds,
        lanes / mean_case,
        database.busy / (seconds * fleet.database_cores),
        1000 * waits[len(waits) // 2],
        1000 * waits[len(waits) * 99 // 100],
        twice / max(done, 1),
        database.log_bytes / seconds / 1e6,
    )


CLAIMED_TOGETHER = 0.25
"""What one of many rows of a statement costs, of what a statement for one costs: parsing, planning and the commit are shared."""
# The mean of max(0.1, x) for x of an exponential distribution with mean 1.
MEAN_OF_CUT = 0.1 + 2.718281828459045**-0.1

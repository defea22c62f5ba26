"""How good a picture can be in the time that it may take.

Every look tells how long it took, and the next one is made as good as it can be at that pace: a busy machine, a heavy scene or a long
wait for the turn give a smaller picture with fewer samples, not none. Before the first look of an engine a careful guess stands in.
"""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import Literal

from blendwright.values.frozen import frozen

Engine = Literal["WORKBENCH", "CYCLES"]

# Seconds for a million pixels (of CYCLES: for each sample), before anything was measured: a slow machine without a graphics card.
FIRST_PACE: dict[Engine, float] = {"WORKBENCH": 2.0, "CYCLES": 3.0}
# What a look costs before its first pixel, so that small pictures do not seem slow for each of their pixels.
START_SECONDS = 0.2
# How much of an estimate a new measurement replaces.
TRUST = 0.5
FEWEST_SAMPLES = 2
# Smaller pictures show nothing: where even this takes too long, it is made all the same.
SMALLEST_WIDTH = 256


@frozen
class LookQuality:
    """What one picture of a look is made with. `reduced` when it is less than was asked for."""

    engine: Engine
    width: int
    height: int
    samples: int
    smooth: bool = True
    reduced: bool = False

    @property
    def work(self) -> float:
        """Millions of pixels, times samples where there are some. Rough edges cost a third of smooth ones."""
        per_pixel = self.samples if self.engine == "CYCLES" else 1.0 if self.smooth else 0.35
        return self.width * self.height * per_pixel / 1e6


class LookPace:
    """What looks at this scene have cost, engine by engine. Any thread may ask."""

    def __init__(self) -> None:
        self._pace = dict(FIRST_PACE)
        self._lock = threading.Lock()

    def measured(self, quality: LookQuality, seconds: float) -> None:
        pace = max(seconds - START_SECONDS, 0.01) / quality.work
        with self._lock:
            self._pace[quality.engine] += (pace - self._pace[quality.engine]) * TRUST

    def fitting(self, wanted: LookQuality, seconds: float) -> LookQuality:
        """The best quality for one picture that takes no longer than that, as far as is known."""
        with self._lock:
            affordable = max(seconds - START_SECONDS, 0.0) / self._pace[wanted.engine]
        if wanted.work <= affordable:
            return wanted
        made = replace(wanted, reduced=True)
        if made.engine == "WORKBENCH":
            made = replace(made, smooth=False)
        elif made.samples > FEWEST_SAMPLES:
            # Denoised, fewer samples lose less than fewer pixels.
            fewer = int(made.samples * affordable / made.work)
            made = replace(made, samples=max(min(FEWEST_SAMPLES, made.samples), fewer))
        if made.work <= affordable:
            return made
        scale = math.sqrt(affordable / made.work)
        least = min(1.0, SMALLEST_WIDTH / made.width)
        scale = max(scale, least)
        return replace(made, width=max(1, round(made.width * scale)), height=max(1, round(made.height * scale)))

"""How good the pictures of a look can be in the time that it may take.

Every picture tells how long it took, and the next look is made as good as it can be at that pace: a busy machine, a heavy scene or a long
wait for the turn give smaller pictures with fewer samples, not none. What a picture costs in any case is told apart from what its quality
costs: where it is the scene that takes long, a small picture takes as long as a large one. Before the first look of a kind a careful guess
stands in.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from blendwright.tools.render.closer_look import Show

Engine = Literal["WORKBENCH", "CYCLES"]
Kind = Literal["WORKBENCH", "CYCLES", "WORKBENCH NAMES", "CYCLES NAMES", "CLOSER"]

# What is made where nothing is said of size and samples; costs are counted in such pictures.
USUAL_PIXELS, USUAL_SAMPLES = 640 * 480, 16
# Rough edges cost so much of smooth ones, and names on a picture as much as so many pictures with smooth ones.
ROUGH, NAMES = 0.35, 1.6
# Of what CYCLES costs beside its samples, this part is the same for all sizes; the rest is denoising.
UNSIZED = 0.15
FEWEST_SAMPLES = 2
# Smaller pictures show nothing: where even this takes too long, it is made all the same.
SMALLEST_WIDTH = 256
# What takes no longer than this part more than the smallest and plainest picture is not made smaller or plainer: little would be won.
SPARED = 0.25
# The first picture of a Blender may take so much longer than the next: its shaders and kernels are loaded, or compiled.
FIRST_PICTURE_SECONDS = 3.0
# CYCLES may take samples for this part of its time at least; the rest is for what comes before and after, with a margin for it.
SAMPLING, MARGIN = 0.6, 1.5


@dataclass(frozen=True, slots=True)
class LookQuality:
    """What one picture of a look is made with."""

    engine: Engine
    width: int
    height: int
    samples: int
    denoise: bool = True
    show: Show = "SHADED"
    smooth: bool = True

    @property
    def kind(self) -> Kind:
        """What its pictures have in common, as far as their cost goes. Depths and masks are the same in both engines."""
        if self.show in ("DEPTH", "MASK"):
            return "CLOSER"
        names: dict[Engine, Kind] = {"WORKBENCH": "WORKBENCH NAMES", "CYCLES": "CYCLES NAMES"}
        if self.show == "NAMES":
            return names[self.engine]
        return self.engine

    @property
    def sampled(self) -> bool:
        return self.engine == "CYCLES" and self.kind != "CLOSER"

    @property
    def base(self) -> float:
        """What it costs whatever its quality, in usual pictures of its kind."""
        if not self.sampled:
            return 1.0
        return UNSIZED + (1.0 - UNSIZED) * self._pixels * (self.denoise or self.show == "NAMES")

    @property
    def work(self) -> float:
        """What its quality costs, in usual pictures of its kind."""
        if self.kind == "CLOSER":
            return self._pixels
        if self.sampled:
            return self._pixels * self.samples / USUAL_SAMPLES
        if self.show == "NAMES":
            names = NAMES
        else:
            names = 0.0
        return self._pixels * ((1.0 if self.smooth else ROUGH) + names) / (1.0 + names)

    @property
    def plainest(self) -> LookQuality:
        """As large, with rough edges or few samples: denoised, samples lose less than pixels."""
        if self.kind == "CLOSER":
            return self
        if not self.sampled:
            return replace(self, smooth=False)
        return self.with_samples(FEWEST_SAMPLES)

    def with_samples(self, samples: int) -> LookQuality:
        """With no more samples than that."""
        return replace(self, samples=min(self.samples, samples))

    def scaled(self, scale: float) -> LookQuality:
        """Smaller, but not too small to show anything."""
        scale = max(scale, min(1.0, SMALLEST_WIDTH / self.width))
        return replace(self, width=max(1, round(self.width * scale)), height=max(1, round(self.height * scale)))

    @property
    def _pixels(self) -> float:
        return self.width * self.height / USUAL_PIXELS


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds for the base and for the work of a usual picture."""

    base: float
    work: float

    def of(self, quality: LookQuality) -> float:
        return self.base * quality.base + self.work * quality.work


class CostEstimate:
    """What pictures of a kind cost: what fits the measurements best, the newer the more, and the first guess a little. Pictures of one
    size alone do not tell base and work apart; then both are moved."""

    FADING = 0.5
    TRUST_IN_GUESS = 0.1

    def __init__(self, base: float, work: float) -> None:
        self._guess = Cost(base, work)
        # Sums over the measurements, of squares and products of work, and of what they took beyond the guess, each for its base.
        self._count = self._work = self._square = self._excess = self._product = 0.0

    def add(self, quality: LookQuality, seconds: float) -> None:
        """Note what a picture took."""
        # Small pictures say as much as large ones.
        work, excess = quality.work / quality.base, (seconds - self._guess.of(quality)) / quality.base
        self._count = self._count * self.FADING + 1.0
        self._work = self._work * self.FADING + work
        self._square = self._square * self.FADING + work * work
        self._excess = self._excess * self.FADING + excess
        self._product = self._product * self.FADING + work * excess

    @property
    def cost(self) -> Cost:
        """The least squares. Neither part is less than nothing."""
        guess = self._guess
        count, square = self._count + self.TRUST_IN_GUESS, self._square + self.TRUST_IN_GUESS
        spread = count * square - self._work**2
        base = (square * self._excess - self._work * self._product) / spread
        work = (count * self._product - self._work * self._excess) / spread
        least = guess.work / 50.0
        if guess.base + base < 0.0:
            base = -guess.base
            work = (self._product - self._work * base) / square
        elif guess.work + work < least:
            work = least - guess.work
            base = (self._excess - self._work * work) / count
        return Cost(max(guess.base + base, 0.0), max(guess.work + work, least))


def first_guesses() -> dict[Kind, CostEstimate]:
    """A slow machine without a graphics card."""
    return {
        "WORKBENCH": CostEstimate(0.2, 0.65),
        "CYCLES": CostEstimate(2.0, 6.0),
        "WORKBENCH NAMES": CostEstimate(0.3, 1.7),
        "CYCLES NAMES": CostEstimate(3.0, 6.0),
        "CLOSER": CostEstimate(0.2, 0.8),
    }


class LookPace:
    """What pictures of this scene have cost, kind by kind. Any thread may ask."""

    def __init__(self) -> None:
        self._estimates = first_guesses()
        self._blender: int | None = None
        self._drawn: set[Kind] = set()
        self._lock = threading.Lock()

    def measured(self, quality: LookQuality, seconds: float, blender: int | None = None) -> None:
        """Note what a picture took. `blender` is the process that made it: its first one of a kind may be slower than others."""
        with self._lock:
            if blender is not None and blender != self._blender:
                self._blender = blender
                self._drawn.clear()
            estimate = self._estimates[quality.kind]
            if blender is not None and quality.kind not in self._drawn:
                self._drawn.add(quality.kind)
                seconds = max(min(seconds, estimate.cost.of(quality)), seconds - FIRST_PICTURE_SECONDS)
            estimate.add(quality, seconds)

    def seconds_for(self, quality: LookQuality) -> float:
        """How long such a picture takes, as far as is known."""
        with self._lock:
            return self._estimates[quality.kind].cost.of(quality)

    def sampling_seconds(self, quality: LookQuality, seconds: float) -> float:
        """How long CYCLES may take samples, so that a picture is done in so many seconds."""
        rest = self.seconds_for(quality.with_samples(0))
        return max(seconds * SAMPLING, seconds - rest * MARGIN)

    def fitting(self, wanted: LookQuality, seconds: float) -> LookQuality:
        """The best quality for a picture that takes no longer than that, as far as is known."""
        with self._lock:
            cost = self._estimates[wanted.kind].cost
        plainest = wanted.plainest
        limit = max(seconds, cost.of(plainest.scaled(0.0)) * (1.0 + SPARED))
        if cost.of(wanted) <= limit:
            return wanted
        if cost.of(plainest) > limit:
            # What it costs grows with its pixels.
            without, whole = cost.of(replace(plainest, width=0)), cost.of(plainest)
            return plainest.scaled(math.sqrt(max(0.0, (limit - without) / (whole - without))))
        if not wanted.sampled:
            return plainest
        without, whole = cost.of(wanted.with_samples(0)), cost.of(wanted)
        return wanted.with_samples(max(FEWEST_SAMPLES, int(wanted.samples * (limit - without) / (whole - without))))

    def lowered(self, quality: LookQuality, seconds: float) -> LookQuality:
        """What fits so many seconds, where that is clearly quicker."""
        lower = self.fitting(quality, seconds)
        if self.seconds_for(lower) * (1.0 + SPARED) < self.seconds_for(quality):
            return lower
        return quality

"""The best quality for the pictures of a look in the time that the look may take.

Each picture measures its cost, and the next look gets the best quality at that pace. A busy machine, a heavy scene or
a long wait for the turn lead to smaller pictures with fewer samples. The estimate separates the base cost from the
cost of quality: where the scene itself takes long, a small picture takes as long as a large one. The first look of a
kind uses a careful guess.
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

# The default size and samples. Costs are measured in pictures of this quality.
USUAL_PIXELS, USUAL_SAMPLES = 640 * 480, 16
# The cost of rough edges as a share of smooth ones, and the cost of names in pictures with smooth edges.
ROUGH, NAMES = 0.35, 1.6
# The share of the cost of CYCLES without samples that does not depend on the size. The rest is denoising.
UNSIZED = 0.15
FEWEST_SAMPLES = 2
# The smallest useful width in pixels. A picture of this width is made even if it takes too long.
SMALLEST_WIDTH = 256
# The smallest share of time that lowering the quality must save.
MIN_SAVING = 0.25
# The most additional seconds of a Blender's first picture, because it loads or compiles shaders and kernels.
FIRST_PICTURE_SECONDS = 3.0
# The least share of the time in which CYCLES may take samples, and the margin for the time before and after sampling.
SAMPLING, MARGIN = 0.6, 1.5


@dataclass(frozen=True, slots=True)
class LookQuality:
    """The quality of one picture of a look."""

    engine: Engine
    width: int
    height: int
    samples: int
    denoise: bool = True
    show: Show = "SHADED"
    smooth: bool = True

    @property
    def kind(self) -> Kind:
        """Return the kind of pictures with comparable costs. Depths and masks cost the same in both engines."""
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
        """Return the base cost, independent of samples, in default pictures of its kind."""
        if not self.sampled:
            return 1.0
        if self.denoise or self.show == "NAMES":
            return UNSIZED + (1.0 - UNSIZED) * self._pixels
        return UNSIZED

    @property
    def work(self) -> float:
        """Return the cost of its quality in default pictures of its kind."""
        if self.kind == "CLOSER":
            return self._pixels
        if self.sampled:
            return self._pixels * self.samples / USUAL_SAMPLES
        edges = ROUGH
        if self.smooth:
            edges = 1.0
        names = 0.0
        if self.show == "NAMES":
            names = NAMES
        return self._pixels * (edges + names) / (1.0 + names)

    @property
    def plainest(self) -> LookQuality:
        """Return the same size with rough edges or few samples. With denoising, fewer samples lose less than fewer pixels."""
        if self.kind == "CLOSER":
            return self
        if not self.sampled:
            return replace(self, smooth=False)
        return self.with_samples(FEWEST_SAMPLES)

    def with_samples(self, samples: int) -> LookQuality:
        """Return this quality with at most this number of samples."""
        return replace(self, samples=min(self.samples, samples))

    def scaled(self, scale: float) -> LookQuality:
        """Return a smaller size, but not less than SMALLEST_WIDTH pixels wide."""
        scale = max(scale, min(1.0, SMALLEST_WIDTH / self.width))
        return replace(self, width=max(1, round(self.width * scale)), height=max(1, round(self.height * scale)))

    @property
    def _pixels(self) -> float:
        return self.width * self.height / USUAL_PIXELS


@dataclass(frozen=True, slots=True)
class Cost:
    """The seconds of the base and of the quality of a default picture."""

    base: float
    work: float

    def of(self, quality: LookQuality) -> float:
        return self.base * quality.base + self.work * quality.work


class CostEstimate:
    """An estimate of the cost of one kind of pictures: a least-squares fit of the measurements and the first guess.

    Newer measurements count more. Pictures of a single size cannot separate base and work; then the fit adjusts both.
    """

    FADING = 0.5
    TRUST_IN_GUESS = 0.1

    def __init__(self, base: float, work: float) -> None:
        self._guess = Cost(base, work)
        # Sums over the measurements: squares and products of the work and of the seconds beyond the guess, divided by the base.
        self._count = self._work = self._square = self._excess = self._product = 0.0

    def add(self, quality: LookQuality, seconds: float) -> None:
        """Add the measured seconds of a picture."""
        # Divide by the base, so that small pictures count as much as large ones.
        work = quality.work / quality.base
        excess = (seconds - self._guess.of(quality)) / quality.base
        self._count = self._count * self.FADING + 1.0
        self._work = self._work * self.FADING + work
        self._square = self._square * self.FADING + work * work
        self._excess = self._excess * self.FADING + excess
        self._product = self._product * self.FADING + work * excess

    @property
    def cost(self) -> Cost:
        """Return the least-squares fit. Neither part is negative."""
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
    """Return the guesses for a slow machine without a graphics card."""
    return {
        "WORKBENCH": CostEstimate(0.2, 0.65),
        "CYCLES": CostEstimate(2.0, 6.0),
        "WORKBENCH NAMES": CostEstimate(0.3, 1.7),
        "CYCLES NAMES": CostEstimate(3.0, 6.0),
        "CLOSER": CostEstimate(0.2, 0.8),
    }


class LookPace:
    """The measured costs of pictures of this scene, by kind. Callable from any thread."""

    def __init__(self) -> None:
        self._estimates = first_guesses()
        self._blender: int | None = None
        self._drawn: set[Kind] = set()
        self._lock = threading.Lock()

    def measured(self, quality: LookQuality, seconds: float, blender: int | None = None) -> None:
        """Add the seconds of a picture. `blender` is the process that made it, whose first picture of a kind may be
        slower.
        """
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
        """Return the estimated seconds for a picture of this quality."""
        with self._lock:
            return self._estimates[quality.kind].cost.of(quality)

    def sampling_seconds(self, quality: LookQuality, seconds: float) -> float:
        """Return the seconds in which CYCLES may take samples, so that the picture ends within `seconds`."""
        other_seconds = self.seconds_for(quality.with_samples(0))
        return max(seconds * SAMPLING, seconds - other_seconds * MARGIN)

    def fitting(self, wanted: LookQuality, seconds: float) -> LookQuality:
        """Return the best quality whose estimated time is at most `seconds`."""
        with self._lock:
            cost = self._estimates[wanted.kind].cost
        plainest = wanted.plainest
        limit = max(seconds, cost.of(plainest.scaled(0.0)) * (1.0 + MIN_SAVING))
        if cost.of(wanted) <= limit:
            return wanted
        if cost.of(plainest) > limit:
            # The cost grows linearly with the number of pixels.
            base_seconds, full_seconds = cost.of(replace(plainest, width=0)), cost.of(plainest)
            return plainest.scaled(math.sqrt(max(0.0, (limit - base_seconds) / (full_seconds - base_seconds))))
        if not wanted.sampled:
            return plainest
        base_seconds, full_seconds = cost.of(wanted.with_samples(0)), cost.of(wanted)
        return wanted.with_samples(
            max(FEWEST_SAMPLES, int(wanted.samples * (limit - base_seconds) / (full_seconds - base_seconds)))
        )

    def lowered(self, quality: LookQuality, seconds: float) -> LookQuality:
        """Return the quality that fits into `seconds` if it is clearly quicker, else the same quality."""
        lower = self.fitting(quality, seconds)
        if self.seconds_for(lower) * (1.0 + MIN_SAVING) < self.seconds_for(quality):
            return lower
        return quality

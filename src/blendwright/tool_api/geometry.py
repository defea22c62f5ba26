"""What an object's geometry amounts to after its modifiers: counts, size and names, for tools that judge results."""

from __future__ import annotations

from dataclasses import dataclass

Corner = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class GeometryFacts:
    """Counts are of what is really there, instances counted as often as they appear; bounds are in the object's own space.

    `loose_instances` are instances at the top: what is left of them when everything is realised is nothing. `open_edges` are
    edges of meshes that have not exactly two faces, None unless they were asked for. `attributes` are those of all components.
    """

    vertices: int = 0
    edges: int = 0
    faces: int = 0
    curves: int = 0
    points: int = 0
    volumes: int = 0
    strokes: int = 0
    loose_instances: int = 0
    open_edges: int | None = None
    attributes: frozenset[str] = frozenset()
    low: Corner | None = None
    high: Corner | None = None

    @property
    def elements(self) -> int:
        """How much there is of anything that can be seen or worked on."""
        return self.vertices + self.curves + self.points + self.volumes + self.strokes

    @property
    def size(self) -> Corner:
        if self.low is None or self.high is None:
            return (0.0, 0.0, 0.0)
        return (self.high[0] - self.low[0], self.high[1] - self.low[1], self.high[2] - self.low[2])

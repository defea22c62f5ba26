"""What must be true of the scene that a task asks for. Each check yields sentences about what is wrong; none means that it passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.trial.checks.brick_arch import brick_arch
from bench.trial.checks.facts import Facts
from bench.trial.checks.game_asset import game_asset
from bench.trial.checks.parametric_stairs import parametric_stairs
from bench.trial.checks.reading_corner import reading_corner
from bench.trial.checks.robot_arm import robot_arm
from bench.trial.checks.scene_cleanup import scene_cleanup

CHECKS: dict[str, Callable[[Facts], Iterator[str]]] = {
    "brick_arch": brick_arch,
    "game_asset": game_asset,
    "parametric_stairs": parametric_stairs,
    "reading_corner": reading_corner,
    "robot_arm": robot_arm,
    "scene_cleanup": scene_cleanup,
}

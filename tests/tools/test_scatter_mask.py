"""Scattering over a part of a surface: by height, direction, region or attribute."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.tools.place.surface_mask import Mask, cut
from support.stage.stage import Stage

CUBE = ((-1.0, -1.0, 0.0, 0.0), (1.0, -1.0, 0.0, 1.0), (1.0, 1.0, 0.0, 1.0), (-1.0, 1.0, 0.0, 0.0))


def scatter(stage: Stage, mask: dict[str, Any], count: int = 40, **more: Any) -> list[list[float]]:
    stage.do(
        "mesh.create_primitive",
        {"kind": "ico_sphere", "name": "Stone", "radius": 0.01, "subdivisions": 1, "location": [0, 0, -9]},
    )
    args = {"object": "Stone", "target": "Rock", "count": count, "prefix": "Moss", "mask": mask, **more}
    names = stage.do("place.scatter", args)["objects"]
    again = stage.call("place.scatter", args)
    assert again["ok"] and again["before"] == again["after"]
    found = stage.do("scene.find", {"name": "Moss_*", "limit": 1000})["objects"]
    assert len(names) == len(found) == count
    return [one["position"] for one in found]


@pytest.fixture
def rock(stage: Stage) -> Stage:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Rock"})
    return stage


def test_only_the_side_that_looks_there(rock: Stage) -> None:
    assert all(z == pytest.approx(1) for _, _, z in scatter(rock, {"direction": [0, 0, 1]}))


def test_a_mirrored_surface_looks_the_way_it_is_seen(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Rock", "scale": [1, 1, -1]})
    assert all(z == pytest.approx(1) for _, _, z in scatter(stage, {"direction": [0, 0, 1]}))


def test_only_between_two_heights(rock: Stage) -> None:
    places = scatter(rock, {"height": [0.5, 0.6]})
    assert all(0.5 - 1e-6 <= z <= 0.6 + 1e-6 for _, _, z in places)
    assert len({round(x, 3) for x, _, _ in places}) > 10


def test_a_small_region_of_a_large_face_is_found(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "plane", "name": "Rock", "size": 1000})
    region = {"low": [100, 100, -1], "high": [100.5, 100.5, 1]}
    places = scatter(stage, {"region": region}, min_distance=0.01)
    assert all(100 - 1e-4 <= x <= 100.5 + 1e-4 and 100 - 1e-4 <= y <= 100.5 + 1e-4 for x, y, _ in places)


@pytest.mark.parametrize(
    ("domain", "type", "values"),
    [("POINT", "FLOAT", [0, 0, 0, 0, 1, 1, 1, 1]), ("FACE", "BOOLEAN", [False, False, True, False, False, False])],
)
def test_only_where_an_attribute_is_large_enough(rock: Stage, domain: str, type: str, values: list[Any]) -> None:
    """Vertices 4 to 7 and face 2 are those at x = 1."""
    rock.do("mesh.set_attribute", {"object": "Rock", "name": "wet", "type": type, "domain": domain, "values": values})
    least = 0.0 if domain == "POINT" else 1.0
    places = scatter(rock, {"attribute": "wet"})
    assert all(x >= least - 1e-5 for x, _, _ in places)
    assert min(x for x, _, _ in places) < 0.3 or domain == "FACE"


def test_what_a_mask_cannot_be_is_named(rock: Stage) -> None:
    rock.do("mesh.create_primitive", {"kind": "cube", "name": "Stone"})
    args = {"object": "Stone", "target": "Rock", "count": 3, "prefix": "Moss"}
    assert rock.invalid("place.scatter", {**args, "mask": {}})
    assert rock.invalid("place.scatter", {**args, "mask": {"height": [1, 0]}})
    assert rock.invalid("place.scatter", {**args, "mask": {"direction": [0, 0, 0]}})
    (missing,) = rock.refusal("place.scatter", {**args, "mask": {"attribute": "wet"}})
    assert missing["pointer"] == "/mask/attribute"
    (nothing,) = rock.refusal("place.scatter", {**args, "mask": {"height": [5, 6]}})
    assert nothing["pointer"] == "/mask"


def test_a_polygon_is_cut_where_the_value_crosses() -> None:
    left = cut(CUBE, list(Mask(attribute="a", min_value=0.25).conditions()))
    assert min(x for x, _, _, _ in left) == pytest.approx(-0.5) and max(x for x, _, _, _ in left) == 1.0
    assert cut(CUBE, list(Mask(height=(1.0, 2.0)).conditions())) == []

"""Random lists of operations of mesh.edit, from a seed; most of them can be done."""

from __future__ import annotations

import random
from typing import Any

Document = dict[str, Any]
AXES = ("+X", "-X", "+Y", "-Y", "+Z", "-Z")
PRIMITIVES: list[Document] = [
    {"kind": "cube"},
    {"kind": "grid", "cells": 4},
    {"kind": "cylinder", "segments": 8},
    {"kind": "cylinder", "segments": 6, "fill": False},
    {"kind": "uv_sphere", "segments": 8, "rings": 5},
    {"kind": "ico_sphere", "subdivisions": 1},
    {"kind": "torus", "segments": 8, "rings": 5},
    {"kind": "cone", "segments": 7},
]


def random_primitive(seed: int) -> Document:
    return {**random.Random(seed).choice(PRIMITIVES), "name": "It"}


def random_edits(seed: int, material: str) -> list[Document]:
    """One to six operations."""
    draw = random.Random(seed * 7919 + 1)
    names: list[str] = []
    edits: list[Document] = []
    for number in range(draw.randint(1, 6)):
        edit = _operation(draw, number, material)
        edit["select"] = _selector(draw, names if number else [])
        if draw.random() < 0.6:
            edit["name"] = f"part{number}"
            names.append(edit["name"])
            if edit["op"] in ("extrude", "inset"):
                names.append(f"{edit['name']}.sides")
        edits.append(edit)
    return edits


def _selector(draw: random.Random, names: list[str]) -> Any:
    forms = [
        "all", "all",
        {"normal": draw.choice(AXES), "angle_deg": draw.choice([5, 30, 80])},
        {"normal": [draw.uniform(-1, 1), draw.uniform(-1, 1), 0.5], "space": "world"},
        {"box": [[None, None, draw.uniform(-1, 0.5)], [None, None, None]]},
        {"box": [[-0.6, -0.6, -2], [0.8, 0.9, 2]], "space": draw.choice(["local", "world"])},
        {"sharp_deg": draw.choice([10, 40, 80])},
        {"normal": draw.choice(AXES), "outline": True},
        "boundary", {"sides": draw.choice([3, 4])},
        [{"normal": "+Z"}, {"normal": "-Z"}],
    ]  # fmt: skip
    if names:
        forms += ["last", draw.choice(names), draw.choice(names), {"inside": draw.choice(names), "normal": "+Z"},
                  {"outside": draw.choice(names), "box": [[-9, -9, -9], [9, 9, 9]]}]  # fmt: skip
    return draw.choice(forms)


def _operation(draw: random.Random, number: int, material: str) -> Document:
    small = draw.uniform(0.02, 0.3)
    any_domain = draw.choice(["faces", "edges", "vertices"])
    return draw.choice([
        {"op": "extrude", "distance": draw.choice([small, -small]), "individual": draw.random() < 0.3},
        {"op": "extrude", "vector": [0.1, small, 0.4], "domain": draw.choice(["faces", "edges"])},
        {"op": "inset", "thickness": small, "depth": draw.choice([0.0, 0.1]), "individual": draw.random() < 0.3},
        {"op": "bevel", "width": small, "segments": draw.randint(1, 3), "domain": draw.choice(["edges", "vertices"])},
        {"op": "subdivide", "cuts": draw.randint(1, 2), "smooth": draw.choice([0.0, 1.0])},
        {"op": "cut", "point": [0.05, 0.1, small], "normal": draw.choice(AXES), "fill": True,
         **draw.choice([{}, {"remove": "above"}, {"remove": "below"}])},
        {"op": "bridge", "domain": draw.choice(["edges", "faces"])},
        {"op": "fill", "triangles": draw.random() < 0.5},
        {"op": "dissolve", "angle_deg": 20.0},
        {"op": "dissolve", "domain": any_domain},
        {"op": "weld", "distance": small},
        {"op": "delete", "domain": any_domain},
        {"op": "separate", "new_name": f"Part {number}"},
        {"op": "normals", "look": draw.choice(["outward", "inward", "flip"])},
        {"op": "mark", "seam": True, "crease": 0.5, "sharp": draw.random() < 0.5},
        {"op": "triangulate"},
        {"op": "transform", "translate": [0, 0, small], "rotate_deg": [10, 0, 30], "scale": [1, 1.2, 0.8],
         "space": draw.choice(["local", "world"]), "domain": any_domain},
        {"op": "material", "material": material},
        {"op": "shade", "angle_deg": draw.choice([0.0, 40.0])},
    ])  # fmt: skip

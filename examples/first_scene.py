"""A table set with a lamp, built call by call: every call prints its receipt, and the last one is the picture.

python examples/first_scene.py OUTPUT_DIRECTORY
"""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import blendwright
from blendwright.policy.policy import Constraints, Policy

Call = tuple[str, dict[str, Any]]

MATERIALS: dict[str, dict[str, Any]] = {
    "Plaster": {"base_color": [0.55, 0.5, 0.45], "roughness": 0.9},
    "Oak": {"base_color": [0.33, 0.16, 0.06], "roughness": 0.45},
    "Rind": {"base_color": [0.12, 0.3, 0.06], "roughness": 0.4},
    "Porcelain": {"base_color": [0.85, 0.84, 0.8], "roughness": 0.12},
    "Enamel": {"base_color": [0.75, 0.12, 0.06], "roughness": 0.3},
}


def table() -> Iterator[Call]:
    yield (
        "mesh.create_primitive",
        {"kind": "cylinder", "name": "Top", "radius": 0.75, "depth": 0.05, "segments": 96, "location": [0, 0, 0.745]},
    )
    yield (
        "modifier.add",
        {"object": "Top", "name": "Edge", "settings": {"type": "BEVEL", "width": 0.012, "segments": 3}},
    )
    yield "material.assign", {"object": "Top", "material": "Oak"}
    for corner in range(4):
        angle = math.radians(45 + 90 * corner)
        name = f"Leg_{corner + 1}"
        place = [round(0.5 * math.cos(angle), 4), round(0.5 * math.sin(angle), 4), 0.36]
        yield (
            "mesh.create_primitive",
            {"kind": "cone", "name": name, "radius": 0.022, "radius_top": 0.04, "depth": 0.72, "location": place},
        )
        yield "material.assign", {"object": name, "material": "Oak"}
        yield "object.set_parent", {"object": name, "parent": "Top"}


def tableware() -> Iterator[Call]:
    yield (
        "mesh.create_primitive",
        {
            "kind": "uv_sphere",
            "name": "Melon",
            "radius": 0.14,
            "segments": 64,
            "rings": 32,
            "scale": [1, 1, 0.7],
            "location": [0.05, 0.1, 1],
        },
    )
    yield "mesh.shade", {"object": "Melon", "shading": "smooth"}
    yield "material.assign", {"object": "Melon", "material": "Rind"}
    yield "place.on_surface", {"object": "Melon", "target": "Top"}
    for number in range(5):
        angle = math.radians(72 * number + 20)
        name = f"Cup_{number + 1}"
        place = [round(0.5 * math.cos(angle), 4), round(0.5 * math.sin(angle), 4), 1]
        yield (
            "mesh.create_primitive",
            {"kind": "cylinder", "name": name, "radius": 0.045, "depth": 0.09, "segments": 48, "location": place},
        )
        yield "mesh.shade", {"object": name, "shading": "flat"}
        yield "material.assign", {"object": name, "material": "Porcelain"}
        yield "place.on_surface", {"object": name, "target": "Top"}


def room() -> Iterator[Call]:
    for name, look in MATERIALS.items():
        yield "material.ensure_principled", {"name": name, **look}
    yield "mesh.create_primitive", {"kind": "plane", "name": "Floor", "size": 12}
    yield "material.assign", {"object": "Floor", "material": "Plaster"}
    yield "scene.set_world", {"color": [0.6, 0.75, 1.0], "strength": 0.25}


def light_and_camera() -> Iterator[Call]:
    yield (
        "mesh.create_primitive",
        {
            "kind": "cone",
            "name": "Shade",
            "radius": 0.22,
            "radius_top": 0.05,
            "depth": 0.2,
            "fill": False,
            "segments": 64,
            "location": [0, 0, 1.75],
        },
    )
    yield "material.assign", {"object": "Shade", "material": "Enamel"}
    yield "modifier.add", {"object": "Shade", "name": "Thickness", "settings": {"type": "SOLIDIFY", "thickness": 0.01}}
    yield (
        "light.create",
        {
            "name": "Lamp",
            "type": "POINT",
            "energy": 45,
            "color": [1.0, 0.8, 0.55],
            "radius": 0.12,
            "location": [0, 0, 1.68],
        },
    )
    yield "light.create", {"name": "Window", "type": "AREA", "energy": 220, "location": [-3, -2.5, 3]}
    yield "camera.look_at", {"object": "Window", "target": "Top"}
    yield "camera.create", {"name": "Camera", "lens_mm": 55, "location": [2.4, -2.9, 2.1]}
    yield "camera.look_at", {"object": "Camera", "point": [0, 0, 0.85]}
    yield "camera.set_active", {"object": "Camera"}
    yield "scene.set_render", {"engine": "CYCLES", "resolution": [640, 480], "samples": 24}


def main(output: Path) -> int:
    output.mkdir(parents=True, exist_ok=True)
    picture, blend = output / "table.png", output / "table.blend"
    calls: list[Call] = [*room(), *table(), *tableware(), *light_and_camera()]
    calls.append(
        ("render.preview", {"engine": "CYCLES", "width": 640, "height": 480, "samples": 24, "artifact": "table.png"})
    )
    calls.append(("file.export", {"path": str(blend)}))
    artifacts = output / "workspace" / "artifacts"
    # A workspace keeps its scene, and replacing a file is asked about; this example builds the same one from the beginning each time.
    shutil.rmtree(output / "workspace", ignore_errors=True)
    blend.unlink(missing_ok=True)
    patient = Policy(
        constraints=Constraints(call_seconds=600)
    )  # a picture on a slow machine takes longer than other calls
    with blendwright.open(output / "workspace", roots=[output], policy=patient, spare=False) as scene:
        for number, (tool, args) in enumerate(calls, start=1):
            result = scene.call(tool, **args)
            if not result.ok:
                sys.stderr.write(f"{tool}: {result.message}\n")
                return 1
            spent = sum(phase["ms"] or 0.0 for phase in result.details["trace"])
            assert result.fingerprint_after is not None
            sys.stdout.write(f"{number:3}  {tool:28} {result.fingerprint_after[-12:]}  {spent:8.1f} ms\n")
        sys.stdout.write(f"\n{len(calls)} calls, scene {scene.hash}\n")
    shutil.copyfile(artifacts / "table.png", picture)
    sys.stdout.write(f"picture: {picture}\nscene:   {blend}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo")))

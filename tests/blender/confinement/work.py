"""The real work of a worker, done confined: `main` takes SCRATCH READABLE IN_FD REPORT_FD from the command line.

Reports JSON through the inherited descriptor: how many times each format came back, sizes of renders, and so on.
"""

import contextlib
import dataclasses
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blendwright.blender.confinement import Allowance, confine


def make_scene(bpy: Any) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_cube_add()
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location.z = 6
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera


def render(bpy: Any, scratch: Path, engine: str) -> int:
    scene = bpy.context.scene
    scene.render.engine = engine
    scene.render.resolution_x = scene.render.resolution_y = 64
    scene.cycles.samples = 1
    scene.render.filepath = str(scratch / f"{engine}.png")
    bpy.ops.render.render(write_still=True)
    return (scratch / f"{engine}.png").stat().st_size


def round_trip(bpy: Any, path: Path) -> list[str]:
    """Export the cube, import it into an empty scene, and return the meshes that came."""
    scenes, files = (bpy.ops.export_scene, bpy.ops.import_scene), bpy.ops.wm
    exporter, importer = {
        "glb": (scenes[0].gltf, scenes[1].gltf),
        "fbx": (scenes[0].fbx, files.fbx_import),
        "obj": (files.obj_export, files.obj_import),
        "stl": (files.stl_export, files.stl_import),
        "ply": (files.ply_export, files.ply_import),
        "usdc": (files.usd_export, files.usd_import),
        "usdz": (files.usd_export, files.usd_import),
        "abc": (files.alembic_export, files.alembic_import),
    }[path.suffix[1:]]
    make_scene(bpy)
    exporter(filepath=str(path))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    importer(filepath=str(path))
    return [ob.type for ob in bpy.data.objects if ob.type == "MESH"]


def held_files(directory: str) -> Iterator[str]:
    """The names of files of a directory that this process has open."""
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            if path.parent == Path(directory).resolve():
                yield path.name


def main() -> None:
    scratch, readable, incoming, report = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    account = confine(Allowance(scratch, readable=[readable]))
    again = confine(Allowance(scratch.parent))
    assert again is account

    import bpy as imported
    import numpy

    bpy: Any = imported
    findings: dict[str, Any] = {
        "account": dataclasses.asdict(account),
        "heard": os.read(incoming, 100).decode(),
        "readable": readable.read_text(),
        "numpy": float(numpy.linalg.norm(numpy.ones((200, 200)) @ numpy.ones((200, 200)))),
        "home": str(Path.home()),
        "held": sorted(held_files("/proc/self")),
    }
    thread = threading.Thread(target=lambda: findings.update(thread=True))
    thread.start()
    thread.join()

    make_scene(bpy)
    findings["renders"] = {engine: render(bpy, scratch, engine) for engine in ("BLENDER_WORKBENCH", "CYCLES")}
    for _ in range(2):  # the second save moves the first one aside
        bpy.ops.wm.save_as_mainfile(filepath=str(scratch / "scene.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(scratch / "scene.blend"), use_scripts=False)
    findings["opened"] = sorted(bpy.data.objects.keys())
    kinds = ("glb", "fbx", "obj", "stl", "ply", "usdc", "usdz", "abc")
    findings["formats"] = {kind: round_trip(bpy, scratch / f"cube.{kind}") for kind in kinds}

    (scratch / "a").mkdir()
    (scratch / "a" / "x").write_text("moved")
    (scratch / "a" / "x").rename(scratch / "x")
    findings["moved"] = (scratch / "x").read_text()
    os.write(report, json.dumps(findings).encode())
    os._exit(0)

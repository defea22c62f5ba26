"""What a scene is in the simulation: objects by name, each at a place. The reference that workers and the oracle share.

The hash of a scene is the sum of the hashes of its objects, so that a change costs as much in a large scene as in a small one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blendwright.values.faults import Fault
from blendwright.wire.blender_profile import hash_scheme
from support.engine.sessions import blender

# That of the Blender which simulated workers say they are.
SCHEME = hash_scheme(blender().version)
_MODULUS = 1 << 256

# The tools that the simulated Blender can run; their arguments, promises and checks are those of the catalogue.
CREATE, MOVE, DELETE = "object.create_empty", "object.transform", "object.delete"
FIND, IMPORT, EXPORT, SNAPSHOT = "scene.find", "file.import", "file.export", "scene.snapshot"
CODE = "python.run"


class Impossible(Exception):
    """The step fails, as the check of its tool says."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(slots=True)
class ToyScene:
    objects: dict[str, str] = field(default_factory=dict[str, str])
    _sum: int = 0

    @property
    def hash(self) -> str:
        return f"{SCHEME}:{self._sum:064x}"

    def copy(self) -> ToyScene:
        return ToyScene(dict(self.objects), self._sum)

    def put(self, name: str, place: str) -> None:
        self.remove(name)
        self.objects[name] = place
        self._sum = (self._sum + _digest(name, place)) % _MODULUS

    def remove(self, name: str) -> None:
        place = self.objects.pop(name, None)
        if place is not None:
            self._sum = (self._sum - _digest(name, place)) % _MODULUS

    def added_to(self, hash: str) -> str:
        """The hash of a scene that has this one's objects besides its own."""
        total = (int(hash.rpartition(":")[2], 16) + self._sum) % _MODULUS
        return f"{SCHEME}:{total:064x}"

    def to_bytes(self) -> bytes:
        return json.dumps(self.objects, sort_keys=True).encode() + b"\n"

    @classmethod
    def of_bytes(cls, content: bytes) -> ToyScene:
        """Raises ValueError for what is no scene, or only a part of one."""
        if not content.endswith(b"\n"):
            raise ValueError("the file ends in the middle")
        scene = cls()
        for name, place in json.loads(content).items():
            scene.put(name, place)
        return scene

    def snapshot(self) -> dict[str, Any]:
        """All of it on one page, in the shape of the tool's answer."""
        empty: dict[str, Any] = {"type": "EMPTY", "data": None}
        objects = [{"name": name, "fingerprint": place, **empty} for name, place in self.objects.items()]
        nothing: list[dict[str, Any]] = []
        lists = {kind: {"items": nothing} for kind in ("materials", "cameras", "lights", "node_groups", "collections")}
        settings = dict.fromkeys(("scene", "world", "render"))
        return {"fingerprint": self.hash, "next_offset": None, "objects": {"items": objects}, **lists, **settings}

    def apply(self, tool: str, args: Mapping[str, Any], imported: str | None) -> list[list[str]]:
        """One step; returns what changed. `imported` is the name that an import brings, which nobody can foresee."""
        name = str(args.get("object" if tool in (MOVE, DELETE) else "name"))
        match tool:
            case "object.create_empty":
                if name in self.objects:
                    raise Impossible(Fault.SCENE_CONFLICT, f"there is an object {name}")
                self.put(name, _place(args))
                return [["object", name, "created"]]
            case "object.transform":
                self._require(name)
                changed = self.objects[name] != _place(args)
                self.put(name, _place(args))
                return [["object", name, "changed"]] if changed else []
            case "object.delete":
                self._require(name)
                self.remove(name)
                return [["object", name, "removed"]]
            case "file.import" if imported is not None:
                self.put(imported, "imported")
                return [["object", imported, "created"]]
            case "scene.find" | "file.export" | "scene.snapshot":
                return []
            case _:
                raise AssertionError(f"the simulated Blender does not know {tool}, or cannot redo it")

    def _require(self, name: str) -> None:
        if name not in self.objects:
            raise Impossible(Fault.TARGET_NOT_FOUND, f"there is no object {name}")


def _place(args: Mapping[str, Any]) -> str:
    return json.dumps([float(number) for number in args.get("location") or (0, 0, 0)])


def _digest(name: str, place: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{name}\0{place}".encode()).digest(), "big")

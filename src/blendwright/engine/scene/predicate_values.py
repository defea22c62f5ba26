"""A scene as the values that a predicate is about: things by name, with what snapshots and audits say of them."""

from __future__ import annotations

import re
from typing import Any

from blendwright.engine.scene.differences import LISTS, collections_of, snapshot_pages
from blendwright.tools.scene.audit import Audit, AuditArgs
from blendwright.values.errors import RebuildFailed
from blendwright.wire.methods import StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene

NAMED = (*LISTS, "collections")
SETTINGS = ("render", "world")
# Looking a scene over takes longer than a snapshot: only for those who ask for it.
ASKS_FOR_AUDIT = re.compile(r"\baudit\b")


def scene_values(worker: RemoteScene, expression: str) -> dict[str, Any]:
    """What an expression finds in place for the worker's scene. Raises RebuildFailed where it cannot be looked at."""
    scene: dict[str, dict[str, Any]] = {kind: {} for kind in NAMED}
    for page in snapshot_pages(worker):
        for kind in LISTS:
            scene[kind] |= {item["name"]: _parts(item) for item in page[kind]["items"]}
        scene["collections"] |= {item["name"]: item for item in collections_of(page)}
        scene |= {kind: page[kind] or {} for kind in SETTINGS}
    if ASKS_FOR_AUDIT.search(expression):
        audit = _audit(worker)
    else:
        audit = None
    return {"scene": scene, "named": list(NAMED), "audit": audit}


def _parts(item: dict[str, Any]) -> dict[str, Any]:
    """Where a thing is counts as its own part."""
    return {**{name: value for name, value in item.items() if name != "transform"}, **item.get("transform", {})}


def _audit(worker: RemoteScene) -> dict[str, Any]:
    args = AuditArgs().model_dump(mode="json")
    answer = worker.step(StepRequest(tool=Audit.name, version=Audit.version, args=args), deadline=HANG_SECONDS)
    if not answer["ok"] or answer["result"] is None:
        raise RebuildFailed(f"the scene could not be looked over: {answer['message']}")
    result = answer["result"]
    return {**result, "rules": {one["rule"]: one["count"] for one in result["rules"]}}

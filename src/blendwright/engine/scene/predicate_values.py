"""A scene as values for predicates: datablocks by name, with their properties from snapshots and audits."""

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
# An audit takes longer than a snapshot, so only expressions that use it get one.
ASKS_FOR_AUDIT = re.compile(r"\baudit\b")


def scene_values(worker: RemoteScene, expression: str) -> dict[str, Any]:
    """Return the variables of an expression for the worker's scene. Raises RebuildFailed when the snapshot or the
    audit fails.
    """
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
    """Return the properties of an item, with the parts of its transform as properties of their own."""
    properties = {name: value for name, value in item.items() if name != "transform"}
    return {**properties, **item.get("transform", {})}


def _audit(worker: RemoteScene) -> dict[str, Any]:
    args = AuditArgs().model_dump(mode="json")
    answer = worker.step(StepRequest(tool=Audit.name, version=Audit.version, args=args), deadline=HANG_SECONDS)
    if not answer["ok"] or answer["result"] is None:
        raise RebuildFailed(f"the audit of the scene failed: {answer['message']}")
    result = answer["result"]
    counts = {entry["rule"]: entry["count"] for entry in result["rules"]}
    return {**result, "rules": counts}

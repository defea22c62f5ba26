"""The schedule of a valid plan for one scene: equal plans run in equal order."""

from __future__ import annotations

import hashlib

import orjson

from blendwright.plan.collector import collector_paused
from blendwright.plan.validate import ValidPlan
from blendwright.values.plan import Schedule


@collector_paused()
def schedule(valid: ValidPlan, registry: str, baseline: str) -> Schedule:
    """`registry` is the fingerprint of the tools, `baseline` the hash of the scene that the plan starts from."""
    whole = hashlib.sha256(orjson.dumps([registry, baseline, valid.content])).hexdigest()
    return Schedule(valid.plan, valid.order, whole, valid.unrunnable)

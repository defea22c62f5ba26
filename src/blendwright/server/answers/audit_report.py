"""What an audit found, as short as it can be told: alike findings as one line, with the worst measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blendwright.server.answers.plan_report import families

Finding = Mapping[str, Any]
JOINED = "joined"


def brief_audit(result: Mapping[str, Any]) -> dict[str, Any]:
    """Findings of one rule with the same other object are one, but for joints, which have a worst pair each. Repairs are told of what
    stands alone: those of many say the same."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for one in result["findings"]:
        groups.setdefault((one["rule"], one["object"] if one["rule"] == JOINED else one["other"]), []).append(one)
    counts = {one["rule"]: one["count"] for one in result["rules"]}
    told: dict[str, Any] = {key: result[key] for key in ("objects", "triangles", "checked")}
    told |= {severity: result[severity] for severity in ("errors", "warnings", "infos") if result[severity]}
    told["rules"] = {
        one["rule"]: f"{one['count']} x {one['severity']}, {one['meaning']}: {one['cure']}" for one in result["rules"]
    }
    told["findings"] = [_line(members) for members in groups.values()]
    if repairs := [call for members in groups.values() if len(members) == 1 for call in members[0]["repair"]]:
        told["repairs"] = repairs
    if not result["objects"] and result["checked"] == "all":
        told["nothing"] = "a render shows no object, so none was looked at"
    if hidden := sum(counts.values()) - len(result["findings"]):
        told["more"] = f"{hidden} findings: scene.audit(most={hidden + len(result['findings'])})"
    if not result["complete"]:
        told["complete"] = False
    return told


def _line(members: Sequence[Finding]) -> str:
    rule, other = members[0]["rule"], members[0]["other"]
    names = families(one["object"] for one in members if one["object"])
    measures = [*dict.fromkeys(name for one in members for name in one["measure"])]
    worst = (_worst(name, [one["measure"][name] for one in members if name in one["measure"]]) for name in measures)
    parts = [f"{rule}: {names or 'the scene'}{f' with {other}' if other else ''}", *filter(None, worst)]
    return "; ".join(parts)


def _worst(name: str, values: Sequence[Any]) -> str:
    if len({*values}) == 1:
        return f"{name} {values[0]}"
    numbers = [value for value in values if isinstance(value, int | float)]
    if numbers:
        return f"{name} {min(numbers)} to {max(numbers)}"
    return ""

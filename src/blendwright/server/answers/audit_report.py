"""Short reports of audits: one line for similar findings, with the range of each measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blendwright.server.answers.plan_report import families

Finding = Mapping[str, Any]
JOINED = "joined"


def brief_audit(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a short form of the result of scene.audit.

    One line reports all findings of a rule with the same other object. For the rule `joined`, a line reports the
    findings of one object.
    `repairs` lists the repair calls of findings that have a line of their own.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in result["findings"]:
        subject = finding["other"]
        if finding["rule"] == JOINED:
            subject = finding["object"]
        groups.setdefault((finding["rule"], subject), []).append(finding)

    report: dict[str, Any] = {key: result[key] for key in ("objects", "triangles", "checked")}
    for severity in ("errors", "warnings", "infos"):
        if result[severity]:
            report[severity] = result[severity]

    report["rules"] = {}
    total = 0
    for rule in result["rules"]:
        total += rule["count"]
        report["rules"][rule["rule"]] = f"{rule['count']} x {rule['severity']}, {rule['meaning']}: {rule['cure']}"

    lines: list[str] = []
    repairs: list[Any] = []
    for members in groups.values():
        lines.append(_line(members))
        if len(members) == 1:
            repairs += members[0]["repair"]
    report["findings"] = lines
    if repairs:
        report["repairs"] = repairs

    if not result["objects"] and result["checked"] == "all":
        report["nothing"] = "a render shows no object, so the audit checked none"
    hidden = total - len(result["findings"])
    if hidden:
        report["more"] = f"{hidden} findings: scene.audit(most={total})"
    if not result["complete"]:
        report["complete"] = False
    return report


def _line(members: Sequence[Finding]) -> str:
    rule, other = members[0]["rule"], members[0]["other"]
    values_by_measure: dict[str, list[Any]] = {}
    for finding in members:
        for measure, value in finding["measure"].items():
            values_by_measure.setdefault(measure, []).append(value)

    names = families(finding["object"] for finding in members if finding["object"])
    subject = f"{rule}: {names or 'the scene'}"
    if other:
        subject += f" with {other}"
    parts = [subject]
    for measure, values in values_by_measure.items():
        span = _span(measure, values)
        if span:
            parts.append(span)
    return "; ".join(parts)


def _span(name: str, values: Sequence[Any]) -> str:
    if len({*values}) == 1:
        return f"{name} {values[0]}"
    numbers = [value for value in values if isinstance(value, int | float)]
    if numbers:
        return f"{name} {min(numbers)} to {max(numbers)}"
    return ""

"""Redaction of arguments by their names, as `audit.redact` of the policy lists them.

Blendwright hides these values in questions, in the log and in shown commits. The journal still stores them, because
an operation cannot run again without its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from blendwright.tool_api.arguments import RENAMED
from blendwright.values.findings import Finding, sentence

HIDDEN = "…"


def redacted(value: Any, names: Sequence[str]) -> Any:
    """Return a copy of the value that hides everything stored under one of the names, at any depth."""
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        hidden = _hidden(names)
        shown: dict[str, Any] = {}
        for key, item in mapping.items():
            if key.casefold() in hidden:
                shown[key] = HIDDEN
            else:
                shown[key] = redacted(item, names)
        return shown
    if isinstance(value, list | tuple):
        return [redacted(item, names) for item in cast("Sequence[Any]", value)]
    return value


def _hidden(names: Sequence[str]) -> set[str]:
    """Return the names in lower case, with the current and the former names of renamed arguments.

    A plan and a policy may each use the current or the former name. An argument that only shares a former name is hidden too.
    """
    listed_names = {name.casefold() for name in names}
    current_names = {word.casefold() for name in listed_names for word in RENAMED.get(name, ())}
    former_names = {
        word.casefold() for word, later in RENAMED.items() if not listed_names.isdisjoint(map(str.casefold, later))
    }
    return listed_names | current_names | former_names


def redacted_receipt(receipt: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a copy of a receipt that hides the named values inside its fields. The fields of the receipt itself stay."""
    return {field: redacted(value, names) for field, value in receipt.items()}


def redacted_message(message: str, findings: Sequence[Finding], names: Sequence[str]) -> str:
    """Return a message made of findings, without the texts of findings about a hidden argument.

    A finding may quote the value of its argument. Without such a finding, return the message unchanged.
    """
    hidden = _hidden(names)
    secret = [finding for finding in findings if not hidden.isdisjoint(finding.pointer.casefold().split("/"))]
    if not secret:
        return message

    shown: list[Finding] = []
    for finding in findings:
        if finding in secret:
            shown.append(replace(finding, message=f"{finding.pointer}: {HIDDEN}"))
        else:
            shown.append(finding)
    return sentence(shown)

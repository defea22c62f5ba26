"""Arguments that are not shown, by their names (`audit.redact` of the policy): in questions, in the log, and where commits are shown.

The journal has them all the same: without its arguments no operation could be done again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from blendwright.tool_api.arguments import RENAMED
from blendwright.values.findings import Finding, sentence

HIDDEN = "…"


def redacted(value: Any, names: Sequence[str]) -> Any:
    """The value with everything hidden that stands under one of the names, at any depth."""
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        hidden = _hidden(names)
        return {key: HIDDEN if key.casefold() in hidden else redacted(item, names) for key, item in mapping.items()}
    if isinstance(value, list | tuple):
        return [redacted(item, names) for item in cast("Sequence[Any]", value)]
    return value


def _hidden(names: Sequence[str]) -> set[str]:
    """The names, what arguments of such a name are called now, and what they were called before: a plan may say either, and so may a
    policy. What only has such a former name is hidden along."""
    own = {name.casefold() for name in names}
    now = {word.casefold() for name in own for word in RENAMED.get(name, ())}
    former = {word.casefold() for word, later in RENAMED.items() if not own.isdisjoint(map(str.casefold, later))}
    return own | now | former


def redacted_receipt(receipt: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A receipt whose result and changes do not tell what its arguments hide; its own fields stay."""
    return {field: redacted(value, names) for field, value in receipt.items()}


def redacted_message(message: str, findings: Sequence[Finding], names: Sequence[str]) -> str:
    """A message that is made of findings, which may quote what they are about: without those about such an argument."""
    hidden = _hidden(names)
    secret = [finding for finding in findings if not hidden.isdisjoint(finding.pointer.casefold().split("/"))]
    if not secret:
        return message
    hide = [replace(one, message=f"{one.pointer}: {HIDDEN}") if one in secret else one for one in findings]
    return sentence(hide)

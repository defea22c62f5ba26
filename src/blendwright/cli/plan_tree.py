"""A plan as a tree that people can read: what is done, with what, after what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from rich.text import Text
from rich.tree import Tree

from blendwright.policy.redaction import redacted
from blendwright.values.plan import Operation, Plan

LONGEST_VALUE = 60
MOST_ARGUMENTS = 8
MOST_OPERATIONS = 200


def plan_tree(plan: Plan, title: str, redact: Sequence[str] = ()) -> Tree:
    """Each operation under the last of those it waits for; arguments as the plan has them, but for those that nobody may see."""
    tree = Tree(Text(title, style="bold"))
    shown = plan.operations[:MOST_OPERATIONS]
    branches: dict[str, Tree] = {}
    waiting = list(shown)
    while waiting:
        # In a plan that was checked one is always ready; in one that was not, whatever is left is put at the root.
        ready = [operation for operation in waiting if _is_ready(operation, branches, waiting)] or waiting
        for operation in ready:
            parents = [branches[id] for id in operation.depends_on if id in branches]
            branches[operation.id] = (parents[-1] if parents else tree).add(_label(operation, redact))
        waiting = [operation for operation in waiting if operation not in ready]
    if len(plan.operations) > len(shown):
        tree.add(Text(f"and {len(plan.operations) - len(shown)} more", style="dim"))
    return tree


def _is_ready(operation: Operation, branches: dict[str, Tree], waiting: list[Operation]) -> bool:
    ahead = {other.id for other in waiting}
    return all(id in branches or id not in ahead for id in operation.depends_on)


def _label(operation: Operation, redact: Sequence[str]) -> Text:
    label = Text(operation.id, style="bold").append(f"  {operation.tool}", style="cyan")
    if operation.safety_level == "destructive":
        label.append("  destructive", style="bold red")
    args = list(redacted(operation.args, redact).items())
    for key, value in args[:MOST_ARGUMENTS]:
        label.append(f"\n  {key}: ", style="dim").append(_short(value), style="default")
    if len(args) > MOST_ARGUMENTS:
        label.append(f"\n  and {len(args) - MOST_ARGUMENTS} more", style="dim")
    return label


def _short(value: Any) -> str:
    # As JSON: control characters of a name must not reach the terminal.
    text = orjson.dumps(value).decode()
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"

"""What a plan uses and does not make, also of a plan that has findings: whoever mends those wants to know of these too, at once.

Pure: whether a scene has it is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from blendwright.plan.graph import read_graph, run_order
from blendwright.plan.implied_order import Use, imply_order
from blendwright.plan.validate import ValidPlan, validate_arguments
from blendwright.tool_api.arguments import in_own_terms
from blendwright.tool_api.mentions import Role
from blendwright.tool_api.tool import AnyTool
from blendwright.tool_api.tool_names import own_name
from blendwright.values.plan import Operation, Plan

if TYPE_CHECKING:
    from blendwright.macros import Macro

# A longer plan that has findings is not gone through a second time.
MOST_OPERATIONS = 20_000


class Granted(NamedTuple):
    """`uses` must be in the scene before the plan begins; `made` are the names that the plan makes, by kind."""

    uses: tuple[Use, ...]
    made: Mapping[str, frozenset[str]]


NOTHING = Granted((), {})


def granted_by_valid(valid: ValidPlan, tools: Mapping[str, AnyTool]) -> Granted:
    """Of a plan whose order its ids decide. Where it is the one that was written, as in steps, a step that fails has its own result."""
    if valid.plan.tie_break != "id":
        return NOTHING
    implied = valid.implied or imply_order(valid.graph, tools, valid.plan.tie_break)
    return Granted(implied.taken_for_granted, _made(valid.plan.operations, tools))


def granted_by_refused(plan: Plan, tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> Granted:
    """As far as its operations are sound. What the others name, in whatever role, they may well be meant to make."""
    if plan.tie_break != "id" or len(plan.operations) > MOST_OPERATIONS:
        return NOTHING
    unknown = {operation.tool for operation in plan.operations} - tools.keys() - macros.keys()
    names = {name: own_name(name, (*tools, *macros)) for name in unknown}
    own = tuple(replace(one, tool=names.get(one.tool, one.tool)) for one in plan.operations)
    expanded = replace(plan, operations=own)
    if any(one.tool in macros for one in own):
        from blendwright.plan.macro_calls import expand_macros

        expanded, _ = expand_macros(expanded, macros, MOST_OPERATIONS)
    sound: list[Operation] = []
    said: set[str] = set()
    for operation in expanded.operations:
        tool = tools.get(operation.tool)
        if (
            tool is None
            or "args" in operation.unsound
            or (checked := validate_arguments(tool, operation.args)).findings
        ):
            said.update(_strings(operation.args))
        else:
            _, former = in_own_terms(tool.args_model, operation.args)
            sound.append(replace(operation, args=checked.canonical, model=checked.model, former_names=former))
    graph = read_graph(sound)
    if len(run_order(graph, plan.tie_break)) < len(sound):
        graph = read_graph([replace(one, depends_on=()) for one in sound])  # a cycle has a finding of its own
    implied = imply_order(graph, tools, plan.tie_break)
    uses = tuple(use for use in implied.taken_for_granted if use.mention.name not in said)
    return Granted(uses, _made(sound, tools))


def _made(operations: Sequence[Operation], tools: Mapping[str, AnyTool]) -> dict[str, frozenset[str]]:
    made: dict[str, set[str]] = {}
    for operation in operations:
        tool = tools.get(operation.tool)
        for mention in () if tool is None or operation.model is None else tool.mentions_for(operation.model):
            if mention.role in (Role.MAKES, Role.ENSURES):
                made.setdefault(mention.kind, set()).add(mention.name)
    return {kind: frozenset(names) for kind, names in made.items()}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in cast("Mapping[str, Any]", value).values():
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in cast("list[Any]", value):
            yield from _strings(part)

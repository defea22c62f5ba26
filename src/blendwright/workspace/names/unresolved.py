"""Names that a plan uses but does not make. This also works for a plan with findings, so that its author learns about
both at once.

The module is pure: it does not know whether a scene has the names.
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

# The number of operations above which a plan with findings is not analysed a second time.
MOST_OPERATIONS = 20_000


class Granted(NamedTuple):
    """Names that the scene must have before the plan begins (`uses`), and names that the plan makes, by kind
    (`made`).
    """

    uses: tuple[Use, ...]
    made: Mapping[str, frozenset[str]]


NOTHING = Granted((), {})


def granted_by_valid(valid: ValidPlan, tools: Mapping[str, AnyTool]) -> Granted:
    """Return the names that a valid plan assumes.

    Return nothing for a plan whose written order decides, because its failing step reports the name.
    """
    if valid.plan.tie_break != "id":
        return NOTHING
    implied = valid.implied or imply_order(valid.graph, tools, valid.plan.tie_break)
    return Granted(implied.taken_for_granted, _made(valid.plan.operations, tools))


def granted_by_refused(plan: Plan, tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> Granted:
    """Return the names that a refused plan assumes, judged by its sound operations.

    Names in the other operations are excluded, because these operations may be meant to make them.
    """
    if plan.tie_break != "id" or len(plan.operations) > MOST_OPERATIONS:
        return NOTHING
    unknown = {operation.tool for operation in plan.operations} - tools.keys() - macros.keys()
    names = {name: own_name(name, (*tools, *macros)) for name in unknown}
    renamed = tuple(replace(operation, tool=names.get(operation.tool, operation.tool)) for operation in plan.operations)
    expanded = replace(plan, operations=renamed)
    if any(operation.tool in macros for operation in renamed):
        from blendwright.plan.macro_calls import expand_macros

        expanded, _ = expand_macros(expanded, macros, MOST_OPERATIONS)

    sound: list[Operation] = []
    unsound_strings: set[str] = set()
    for operation in expanded.operations:
        tool = tools.get(operation.tool)
        if tool is None or "args" in operation.unsound:
            unsound_strings.update(_strings(operation.args))
            continue
        checked = validate_arguments(tool, operation.args)
        if checked.findings:
            unsound_strings.update(_strings(operation.args))
            continue
        _, former = in_own_terms(tool.args_model, operation.args)
        sound.append(replace(operation, args=checked.canonical, model=checked.model, former_names=former))

    graph = read_graph(sound)
    if len(run_order(graph, plan.tie_break)) < len(sound):
        # The plan has a cycle, which has a finding of its own.
        graph = read_graph([replace(operation, depends_on=()) for operation in sound])
    implied = imply_order(graph, tools, plan.tie_break)
    uses = tuple(use for use in implied.taken_for_granted if use.mention.name not in unsound_strings)
    return Granted(uses, _made(sound, tools))


def _made(operations: Sequence[Operation], tools: Mapping[str, AnyTool]) -> dict[str, frozenset[str]]:
    names_by_kind: dict[str, set[str]] = {}
    for operation in operations:
        tool = tools.get(operation.tool)
        if tool is None or operation.model is None:
            continue
        for mention in tool.mentions_for(operation.model):
            if mention.role in (Role.MAKES, Role.ENSURES):
                names_by_kind.setdefault(mention.kind, set()).add(mention.name)
    return {kind: frozenset(names) for kind, names in names_by_kind.items()}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in cast("Mapping[str, Any]", value).values():
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in cast("list[Any]", value):
            yield from _strings(part)

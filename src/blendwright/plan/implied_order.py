"""What waits for what although no `depends_on` says so: an operation that uses a datablock waits for the one that makes it, and whoever
removes or renames it waits for those that use it.

What the plan says comes first: the order that its own dependencies and the ids give decides which of several makers and removers of
one name comes first, and whom of them a use belongs to. Equal plans get equal dependencies. Pure, and without a scene: what a plan
neither makes nor removes plays no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from blendwright.plan.graph import Graph, cycles, run_order
from blendwright.tool_api.mentions import ANY_KIND, INSIDE_OBJECTS, Mention, Role
from blendwright.tool_api.scene import Kind
from blendwright.tool_api.tool import AnyTool
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, cut
from blendwright.values.plan import Operation, TieBreak

CYCLE = "implied_cycle"
# How many of the reasons for a cycle are spelled out.
SHOWN = 3
# The roles in which a datablock must be there already.
NEEDS_IT = (Role.USES, Role.REMOVES)


class Datablock(NamedTuple):
    """What operations have in common: a datablock by kind and name, or a modifier, with the object that it is in."""

    kind: str
    owner: str
    name: str

    def __str__(self) -> str:
        label = INSIDE_OBJECTS.get(self.kind) or Kind(self.kind).label
        return f"{label} '{cut(self.name)}'" + (f" of '{cut(self.owner)}'" if self.owner else "")


@dataclass(frozen=True, slots=True)
class Link:
    """`after` waits for `before`, both places in the plan. Without `firm`, the plan may well mean it otherwise."""

    after: int
    before: int
    why: str
    firm: bool


class Use(NamedTuple):
    """An operation uses or removes a datablock that must be in the scene before the plan begins: nothing makes it earlier."""

    operation: Operation
    mention: Mention


@dataclass(frozen=True, slots=True)
class ImpliedOrder:
    """The graph with the links; what keeps it from being ordered; and what the plan takes for granted."""

    graph: Graph
    links: tuple[Link, ...]
    findings: tuple[Finding, ...]
    taken_for_granted: tuple[Use, ...]


def imply_order(graph: Graph, tools: Mapping[str, AnyTool], tie_break: TieBreak) -> ImpliedOrder:
    """`graph` is that of a plan whose arguments are valid, without cycles of its own."""
    named = _Named(graph, tools)
    granted: list[tuple[int, Mention]] = []
    shared: list[Datablock] = []
    for block, touching in named.blocks.items():
        if len(touching) > 1:
            shared.append(Datablock(*block))
        else:
            [(unit, alone)] = touching.items()
            if alone[0].role in NEEDS_IT:
                granted += ((unit, one) for one in alone if one.surely and one.role in NEEDS_IT)
    if shared:
        position = {node: place for place, node in enumerate(run_order(graph, tie_break))}
    else:
        position = {}
    links = [
        link
        for block in shared
        for link in _links(block, named.blocks[block], position, granted, new=named.has_new_owner(block))
    ]
    wanted = _new_links(graph, named, links)
    if not wanted:
        return ImpliedOrder(graph, (), (), _uses(graph, named, granted))
    # What makes datablocks that nobody can foresee may be what a use means.
    if named.unforeseen:
        whole = [link for link in wanted if link.firm]
    else:
        whole = wanted
    for chosen in (wanted, whole, [link for link in whole if link.firm]):
        linked = _with(graph, chosen)
        if len(run_order(linked, tie_break)) == len(graph.operations):
            return ImpliedOrder(linked, tuple(chosen), (), _uses(graph, named, granted))
    if named.unforeseen:
        return ImpliedOrder(graph, (), (), ())
    firm = [link for link in wanted if link.firm]
    return ImpliedOrder(graph, (), tuple(_findings(_with(graph, firm), firm)), ())


def _uses(graph: Graph, named: _Named, granted: Iterable[tuple[int, Mention]]) -> tuple[Use, ...]:
    """None where code or a file may make what is used."""
    if named.unforeseen:
        return ()
    return tuple(Use(graph.operations[node], one) for node, one in granted)


class _Named:
    """Which operation names which datablock that some operation makes or removes, and in what role.

    A macro is one operation here, the first of its steps: nothing may come between the others."""

    def __init__(self, graph: Graph, tools: Mapping[str, AnyTool]) -> None:
        self.last: dict[int, int] = {}
        self.unforeseen = False
        # By the words of a `Datablock`: most are named once, and nobody speaks of them.
        self.blocks: dict[tuple[str, str, str], dict[int, list[Mention]]] = {}
        anything: list[tuple[int, Mention]] = []
        calls: dict[str, int] = {}
        for node, operation in enumerate(graph.operations):
            unit = node
            if operation.origin is not None:
                unit = calls.setdefault(operation.origin.operation_id, node)
                self.last[unit] = node
            tool = tools.get(operation.tool)
            if tool is None or operation.model is None:
                continue
            self.unforeseen |= tool.makes_others
            for mention in tool.mentions_for(operation.model):
                if mention.kind == ANY_KIND:
                    anything.append((unit, mention))
                else:
                    block = mention.kind, mention.owner, mention.name
                    touching = self.blocks.get(block)
                    if touching is None:  # what most are: not a list and a dictionary made in vain for each
                        self.blocks[block] = {unit: [mention]}
                    else:
                        touching.setdefault(unit, []).append(mention)
        if anything:
            self._resolve(anything)

    def has_new_owner(self, block: Datablock) -> bool:
        """Whether the plan makes the object that a modifier is in."""
        if block.owner:
            touching = self.blocks.get(Datablock(Kind.OBJECT.blocks, "", block.owner), {})
        else:
            touching = {}
        return any(_role_of(one) is Role.MAKES for one in touching.values())

    def _resolve(self, anything: Sequence[tuple[int, Mention]]) -> None:
        by_name: dict[str, list[Datablock]] = {}
        for block in map(Datablock._make, self.blocks):
            if not block.owner:
                by_name.setdefault(block.name, []).append(block)
        for unit, mention in anything:
            for block in by_name.get(mention.name, ()):
                self.blocks[block].setdefault(unit, []).append(mention)


def _links(
    block: Datablock,
    touching: Mapping[int, Sequence[Mention]],
    position: Mapping[int, int],
    granted: list[tuple[int, Mention]],
    *,
    new: bool,
) -> Iterator[Link]:
    """The links between those that name one datablock; what must be in the scene for them is added to `granted`. What is `new`
    cannot be in the scene before somebody makes it."""
    uses: list[int] = []
    changing: list[tuple[int, Role]] = []
    for unit, all_mentions in touching.items():
        role = _role_of(all_mentions)
        if role is Role.USES:
            uses.append(unit)
        elif role is not None:
            changing.append((unit, role))
    if any(role is Role.MAKES for _, role in changing):
        # Whoever makes it where there is none would be in the way of whoever makes it in any case.
        uses += [unit for unit, role in changing if role is Role.ENSURES]
        changing = [(unit, role) for unit, role in changing if role is not Role.ENSURES]
    changing.sort(key=lambda one: position[one[0]])
    if new:
        maker = next((one for one in changing if one[1] is not Role.REMOVES), None)
        changing.sort(key=lambda one: one is not maker)
    for (earlier, role), (later, next_role) in pairwise(changing):
        if Role.MAKES is not role or next_role is not Role.MAKES:
            yield Link(later, earlier, f"it {next_role.value} {block}, which that one {role.value}", firm=False)
    lives = _lives(changing)
    for unit in uses:
        made_by, removed_by = _life_of(unit, lives, position)
        surely = any(mention.surely for mention in touching[unit])
        if made_by is not None and made_by[0] != unit:
            firm = made_by[1] is Role.MAKES and surely
            yield Link(unit, made_by[0], f"it uses {block}, which that one makes", firm)
        if removed_by is not None and removed_by != unit:
            yield Link(removed_by, unit, f"it removes {block}, which that one uses", surely)
        if made_by is None:
            granted += [(unit, mention) for mention in touching[unit] if mention.surely and mention.role is Role.USES]
    if changing and changing[0][1] is Role.REMOVES:
        unit = changing[0][0]
        granted += [(unit, mention) for mention in touching[unit] if mention.surely and mention.role is Role.REMOVES]


def _role_of(all_mentions: Sequence[Mention]) -> Role | None:
    """What an operation, or a macro from its first step to its last, is to a datablock; None for one that it keeps to itself."""
    first, ends = all_mentions[0].role, [one.role for one in all_mentions if one.role is not Role.USES]
    if not ends:
        return Role.USES
    if first in (Role.USES, Role.REMOVES):
        # It must be there before; what is there again afterwards is no end of it.
        if ends[-1] is Role.REMOVES:
            return Role.REMOVES
        return Role.USES
    if ends[-1] is Role.REMOVES:
        return None
    return first


_Life = tuple[tuple[int, Role] | None, int | None]


def _lives(changing: Sequence[tuple[int, Role]]) -> list[_Life]:
    """From whoever makes it to whoever removes it; without a maker it was there before, without a remover it stays."""
    if not changing:
        return [(None, None)]
    lives: list[_Life] = []
    maker: tuple[int, Role] | None = None
    alive = changing[0][1] is Role.REMOVES
    for unit, role in changing:
        if role is Role.REMOVES and alive:
            lives.append((maker, unit))
            maker, alive = None, False
        elif role is not Role.REMOVES and not alive:
            maker, alive = (unit, role), True
    if alive:
        return [*lives, (maker, None)]
    return lives


def _life_of(unit: int, lives: Sequence[_Life], position: Mapping[int, int]) -> _Life:
    """The life that a use falls into by the order of the plan; else the next one, else the last."""
    at = position[unit]
    for made_by, removed_by in lives:
        if removed_by is None or at < position[removed_by]:
            return made_by, removed_by
    return lives[-1]


def _new_links(graph: Graph, named: _Named, links: Iterable[Link]) -> list[Link]:
    """Between the ends of macros, each once, and only what the plan does not say itself."""
    new: dict[tuple[int, int], Link] = {}
    for link in links:
        after, before = link.after, named.last.get(link.before, link.before)
        if before not in graph.waits_for[after]:
            known = new.get((after, before))
            if known is None or (link.firm and not known.firm):
                new[after, before] = replace(link, after=after, before=before)
    return sorted(new.values(), key=lambda link: (link.after, link.before))


def _with(graph: Graph, links: Iterable[Link]) -> Graph:
    waits_for, waited_by = [list(row) for row in graph.waits_for], [list(row) for row in graph.waited_by]
    for link in links:
        waits_for[link.after].append(link.before)
        waited_by[link.before].append(link.after)
    return replace(graph, waits_for=waits_for, waited_by=waited_by)


def _findings(linked: Graph, links: Sequence[Link]) -> Iterator[Finding]:
    reasons = {(link.after, link.before): link.why for link in links}
    ids = [cut(operation.caller_id) for operation in linked.operations]
    for cycle in cycles(linked):
        steps = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        told = [f"'{ids[a]}' follows '{ids[b]}', since {reasons[a, b]}" for a, b in steps if (a, b) in reasons]
        message = f"'{ids[cycle[0]]}' would have to wait for itself: {'; '.join(told[:SHOWN])}"
        cure = "Make it under another name, or leave out the depends_on that says the opposite."
        yield Finding(Fault.GRAPH_CYCLE, message, linked.operations[cycle[0]].pointer, cure, CYCLE)

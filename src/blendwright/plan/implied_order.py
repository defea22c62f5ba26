"""Dependencies that follow from names: an operation that uses a datablock waits for its maker, and a remover waits
for the users.

The plan's own statements come first. Its dependencies and the ids decide the order of several makers and removers
of one name, and the one that a use refers to. Equal plans get equal dependencies. These functions know no scene,
so datablocks that the plan neither makes nor removes play no part.
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
# Reasons for a cycle that its message lists.
MAX_SHOWN_REASONS = 3
# Roles that need an existing datablock.
NEEDING_ROLES = (Role.USES, Role.REMOVES)


class Datablock(NamedTuple):
    """A datablock by kind and name, or a modifier together with its object."""

    kind: str
    owner: str
    name: str

    def __str__(self) -> str:
        label = INSIDE_OBJECTS.get(self.kind) or Kind(self.kind).label
        text = f"{label} '{cut(self.name)}'"
        if self.owner:
            text += f" of '{cut(self.owner)}'"
        return text


@dataclass(frozen=True, slots=True)
class Link:
    """An implied dependency: `after` waits for `before`, both indexes in the plan. If it is not `firm`, the plan
    may mean another order.
    """

    after: int
    before: int
    why: str
    firm: bool


class Use(NamedTuple):
    """An operation that uses or removes a datablock of the initial scene: no earlier operation makes it."""

    operation: Operation
    mention: Mention


@dataclass(frozen=True, slots=True)
class ImpliedOrder:
    """The graph with the implied links, the findings that prevent an order, and the assumed datablocks of the
    initial scene.
    """

    graph: Graph
    links: tuple[Link, ...]
    findings: tuple[Finding, ...]
    taken_for_granted: tuple[Use, ...]


def imply_order(graph: Graph, tools: Mapping[str, AnyTool], tie_break: TieBreak) -> ImpliedOrder:
    """Return the order that names imply, in addition to the dependencies of `graph`.

    The arguments of the plan must be valid, and its own dependencies must have no cycles.
    """
    mentions = _Mentions(graph, tools)

    # Separate datablocks with one mentioning operation, which need no links.
    assumed: list[tuple[int, Mention]] = []
    shared: list[Datablock] = []
    for block, by_unit in mentions.blocks.items():
        if len(by_unit) > 1:
            shared.append(Datablock(*block))
            continue
        ((unit, unit_mentions),) = by_unit.items()
        if unit_mentions[0].role in NEEDING_ROLES:
            for mention in unit_mentions:
                if mention.surely and mention.role in NEEDING_ROLES:
                    assumed.append((unit, mention))

    # Link the operations that mention the other datablocks.
    position: dict[int, int] = {}
    if shared:
        position = {node: index for index, node in enumerate(run_order(graph, tie_break))}
    links: list[Link] = []
    for block in shared:
        is_new = mentions.has_new_owner(block)
        links += _links(block, mentions.blocks[block], position, assumed, new=is_new)
    new_links = _new_links(graph, mentions, links)
    if not new_links:
        return ImpliedOrder(graph, (), (), _uses(graph, mentions, assumed))

    # Use all links if they have no cycle, else only the firm ones.
    firm_links = [link for link in new_links if link.firm]
    for chosen in (new_links, firm_links):
        linked = _with(graph, chosen)
        if len(run_order(linked, tie_break)) == len(graph.operations):
            return ImpliedOrder(linked, tuple(chosen), (), _uses(graph, mentions, assumed))

    if mentions.unforeseen:
        # Code or a file may make the datablock that a use means, so the cycle may not be real.
        return ImpliedOrder(graph, (), (), ())
    return ImpliedOrder(graph, (), tuple(_findings(_with(graph, firm_links), firm_links)), ())


def _uses(graph: Graph, mentions: _Mentions, assumed: Iterable[tuple[int, Mention]]) -> tuple[Use, ...]:
    """Return the assumed uses, or none if code or a file may make the datablocks."""
    if mentions.unforeseen:
        return ()
    return tuple(Use(graph.operations[node], mention) for node, mention in assumed)


class _Mentions:
    """The mentions of each datablock, by operation.

    A macro counts as one operation, by its first step, because no other operation may come between its steps.
    """

    def __init__(self, graph: Graph, tools: Mapping[str, AnyTool]) -> None:
        self.last: dict[int, int] = {}
        self.unforeseen = False
        # Plain tuples as keys, because most datablocks have one mention and need no Datablock object.
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
                    if touching is None:  # the common case, without an unused list and dictionary
                        self.blocks[block] = {unit: [mention]}
                    else:
                        touching.setdefault(unit, []).append(mention)
        if anything:
            self._resolve(anything)

    def has_new_owner(self, block: Datablock) -> bool:
        """Return True if the plan makes the object that the modifier belongs to."""
        if block.owner:
            touching = self.blocks.get(Datablock(Kind.OBJECT.blocks, "", block.owner), {})
        else:
            touching = {}
        return any(_role_of(mentions) is Role.MAKES for mentions in touching.values())

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
    """Yield the links between the operations that mention one datablock. Add uses of the initial scene to
    `granted`.

    A `new` datablock cannot exist in the initial scene.
    """
    uses: list[int] = []
    changing: list[tuple[int, Role]] = []
    for unit, all_mentions in touching.items():
        role = _role_of(all_mentions)
        if role is Role.USES:
            uses.append(unit)
        elif role is not None:
            changing.append((unit, role))
    if any(role is Role.MAKES for _, role in changing):
        # An operation that makes the datablock only if it is missing must come after one that always makes it.
        uses += [unit for unit, role in changing if role is Role.ENSURES]
        changing = [(unit, role) for unit, role in changing if role is not Role.ENSURES]
    changing.sort(key=lambda change: position[change[0]])
    if new:
        first_maker = next((change for change in changing if change[1] is not Role.REMOVES), None)
        changing.sort(key=lambda change: change is not first_maker)
    for (earlier, role), (later, next_role) in pairwise(changing):
        if Role.MAKES is not role or next_role is not Role.MAKES:
            why = f"it {next_role.value} {block}, which the other operation {role.value}"
            yield Link(later, earlier, why, firm=False)
    lives = _lives(changing)
    for unit in uses:
        made_by, removed_by = _life_of(unit, lives, position)
        surely = any(mention.surely for mention in touching[unit])
        if made_by is not None and made_by[0] != unit:
            firm = made_by[1] is Role.MAKES and surely
            yield Link(unit, made_by[0], f"it uses {block}, which the other operation makes", firm)
        if removed_by is not None and removed_by != unit:
            yield Link(removed_by, unit, f"it removes {block}, which the other operation uses", surely)
        if made_by is None:
            granted += [(unit, mention) for mention in touching[unit] if mention.surely and mention.role is Role.USES]
    if changing and changing[0][1] is Role.REMOVES:
        unit = changing[0][0]
        granted += [(unit, mention) for mention in touching[unit] if mention.surely and mention.role is Role.REMOVES]


def _role_of(all_mentions: Sequence[Mention]) -> Role | None:
    """Return the role of an operation or whole macro for a datablock, or None if it makes and removes the
    datablock itself.
    """
    first_role = all_mentions[0].role
    change_roles = [mention.role for mention in all_mentions if mention.role is not Role.USES]
    if not change_roles:
        return Role.USES
    if first_role in (Role.USES, Role.REMOVES):
        # The datablock must exist before. If it exists again afterwards, the operation only uses it.
        if change_roles[-1] is Role.REMOVES:
            return Role.REMOVES
        return Role.USES
    if change_roles[-1] is Role.REMOVES:
        return None
    return first_role


_Life = tuple[tuple[int, Role] | None, int | None]


def _lives(changing: Sequence[tuple[int, Role]]) -> list[_Life]:
    """Return the lives of a datablock as pairs of maker and remover.

    Without a maker it existed before the plan; without a remover it stays.
    """
    if not changing:
        return [(None, None)]
    lives: list[_Life] = []
    maker: tuple[int, Role] | None = None
    alive = changing[0][1] is Role.REMOVES
    for unit, role in changing:
        if role is Role.REMOVES and alive:
            lives.append((maker, unit))
            maker = None
            alive = False
        elif role is not Role.REMOVES and not alive:
            maker = (unit, role)
            alive = True
    if alive:
        return [*lives, (maker, None)]
    return lives


def _life_of(unit: int, lives: Sequence[_Life], position: Mapping[int, int]) -> _Life:
    """Return the life that contains a use in the order of the plan, else the next one, else the last one."""
    at = position[unit]
    for made_by, removed_by in lives:
        if removed_by is None or at < position[removed_by]:
            return made_by, removed_by
    return lives[-1]


def _new_links(graph: Graph, mentions: _Mentions, links: Iterable[Link]) -> list[Link]:
    """Return the links between the ends of macros, without duplicates and without dependencies of the plan itself."""
    new: dict[tuple[int, int], Link] = {}
    for link in links:
        after = link.after
        before = mentions.last.get(link.before, link.before)
        if before not in graph.waits_for[after]:
            existing = new.get((after, before))
            if existing is None or (link.firm and not existing.firm):
                new[after, before] = replace(link, after=after, before=before)
    return sorted(new.values(), key=lambda link: (link.after, link.before))


def _with(graph: Graph, links: Iterable[Link]) -> Graph:
    waits_for = [list(row) for row in graph.waits_for]
    waited_by = [list(row) for row in graph.waited_by]
    for link in links:
        waits_for[link.after].append(link.before)
        waited_by[link.before].append(link.after)
    return replace(graph, waits_for=waits_for, waited_by=waited_by)


def _findings(linked: Graph, links: Sequence[Link]) -> Iterator[Finding]:
    reasons = {(link.after, link.before): link.why for link in links}
    ids = [cut(operation.caller_id) for operation in linked.operations]
    for cycle in cycles(linked):
        steps = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        texts: list[str] = []
        for after, before in steps:
            if (after, before) in reasons:
                texts.append(f"'{ids[after]}' follows '{ids[before]}', because {reasons[after, before]}")
        message = f"'{ids[cycle[0]]}' would have to wait for itself: {'; '.join(texts[:MAX_SHOWN_REASONS])}"
        cure = "Use another name for the datablock, or remove the contradicting depends_on."
        yield Finding(Fault.GRAPH_CYCLE, message, linked.operations[cycle[0]].pointer, cure, CYCLE)

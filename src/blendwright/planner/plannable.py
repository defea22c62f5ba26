"""The dialects that models write plans in, one table: what a model is told of each, which tools, and the form of its answer.

Everything about a dialect that the planner knows stands here; reading and running its plans is for `dialects`. Tools are chosen by the
words of the request, beside those that nearly every scene needs. Being left out forbids nothing: a plan may name any tool of its contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from blendwright.planner.port import ResponseSchema
from blendwright.planner.response_schema import geonodes_schema, operations_schema, program_schema
from blendwright.policy.policy import Verdict, ruling
from blendwright.policy.session_contract import ContractTerms
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.catalog import score, words_of

OPERATIONS_EXAMPLE = """\
{"request_id": "round-table-1", "operations": [
  {"operation_id": "top", "tool_name": "mesh.create_primitive", "safety_level": "safe_write", "depends_on": [],
   "args": {"kind": "cylinder", "name": "TableTop", "radius": 0.6, "depth": 0.04, "location": [0, 0, 0.74]}},
  {"operation_id": "leg", "tool_name": "mesh.create_primitive", "safety_level": "safe_write", "depends_on": [],
   "args": {"kind": "cylinder", "name": "TableLeg", "radius": 0.05, "depth": 0.72, "location": [0, 0, 0.36]}},
  {"operation_id": "wood", "tool_name": "material.ensure_principled", "safety_level": "safe_write", "depends_on": [],
   "args": {"name": "Oak", "base_color": [0.45, 0.27, 0.12], "roughness": 0.5}},
  {"operation_id": "paint", "tool_name": "material.assign", "safety_level": "safe_write", "depends_on": ["top", "wood"],
   "args": {"object": "TableTop", "material": "Oak"}}
]}"""

GEONODES_EXAMPLE = """\
{"version": "1.0", "steps": [
  {"id": "step_1", "type": "NODE_TREE", "description": "Subdivide the mesh and keep the output connected",
   "payload": {
     "target": {"object_name": "Plane", "modifier_name": "GeometryNodes", "node_group_name": "GN_Finer"},
     "operations": [
       {"op": "create_node", "node_id": "finer", "bl_idname": "GeometryNodeSubdivideMesh", "location": [0, 0]},
       {"op": "set_input_default", "node_id": "finer", "socket": "Level", "value": 3},
       {"op": "link", "from": {"node_id": "group_input", "socket": "Geometry"}, "to": {"node_id": "finer", "socket": "Mesh"}},
       {"op": "link", "from": {"node_id": "finer", "socket": "Mesh"}, "to": {"node_id": "group_output", "socket": "Geometry"}}
     ]}}],
 "done": true, "final_message": "The plane is subdivided three times.", "meta": {"requires_gate_verification": true}}"""

PLAN_RULES = """\
Rules: metres, degrees, linear RGB 0..1, Z up. Names are exact and must be free. safety_level is at least that of the tool (read_only,
safe_write, destructive). depends_on names what must be there first. One request_id per request: keep it when you repair."""

MORE_RULES = """\
Every object gets a name of its own that says what it is. What is named by another operation must be made first: put the maker's
operation_id into depends_on. Operations that do not need each other have no dependency. Positions are of an object's origin, and shapes
are centred on it: what stands on the floor has its location at half its height. Leave out what should be as by default. If the request
leaves sizes open, choose those of the real thing. Use only the tools below."""

GEONODES_RULES = """\
Steps run in order, at most 25. Each has a type: NODE_TREE or GN_OPS change the node tree of one object's modifier; PYTHON is the last
resort and may be refused. group_input and group_output are given node ids. Set properties before linking sockets that depend on them.
"done" is accepted only when the gates pass: output connected, no invalid links, no cycles, evaluates, geometry not empty."""
PROGRAM_EXAMPLE = """\
{"program": "wood = material.ensure_principled(name = \\"Oak\\", base_color = [0.45, 0.27, 0.12])\\nfor i in range(4):\\n    leg = \
mesh.create_primitive(kind = \\"cylinder\\", name = \\"Leg_%d\\" % i, radius = 0.03, depth = 0.7, location = vec.polar(0.5, 45 + 90 * i, \
0.35))\\n    material.assign(object = leg, material = wood)\\n"}"""

PROGRAM_RULES = """\
Answer with {"program": text}: a Starlark program that calls tools by name, as noun.verb with named arguments. Starlark is Python without
imports, classes, while, try, sets and the operator **. A call returns a handle: pass it where a name is wanted, or use handle.name. What
is written first happens first. There are math (sin, cos, sqrt, pi, sin_deg, cos_deg …), vec (add, sub, scale, rotate,
polar(radius, degrees, z) …), random(seed) with uniform, int, choice, and pad(7, 2) for "07". Nothing of the scene can be read by the
program. Findings name its line."""

SCENE_RULES = """\
Rules: metres, degrees, linear RGB 0..1, Z up. Names are exact and must be free. Every object gets a name of its own that says what it is.
Positions are of an object's origin, and shapes are centred on it: what stands on the floor has its location at half its height. Leave out
what should be as by default. If the request leaves sizes open, choose those of the real thing. Use only the tools below."""
PlannableDialect = Literal["operations", "geonodes", "program"]
Tools = tuple[AnyTool, ...]
# What a prompt and its response schema have room for; see docs/planner.md.
MOST_TOOLS = 22

CORE = (
    "mesh.create_primitive",
    "material.ensure_principled",
    "material.assign",
    "object.transform",
    "object.set_parent",
    "object.duplicate",
    "place.around",
    "place.on_surface",
    "light.create",
    "camera.create",
    "camera.frame_objects",
    "collection.create",
    "modifier.add",
)

# Words of people that stand in no declaration, and the words of declarations that are meant.
SYNONYMS: dict[str, str] = {
    "animate": "animation keyframe",
    "background": "backdrop world sky",
    "beside": "align place",
    "bigger": "transform scale",
    "brighter": "light",
    "copies": "duplicate",
    "copy": "duplicate",
    "erase": "delete",
    "fence": "duplicate grid array",
    "forest": "scatter",
    "hide": "visibility",
    "hole": "modifier boolean",
    "label": "text",
    "lamp": "light",
    "letters": "text",
    "move": "transform",
    "photo": "render camera",
    "picture": "render camera",
    "pipe": "curve",
    "random": "scatter",
    "remove": "delete",
    "rotate": "transform",
    "rounded": "modifier bevel",
    "row": "distribute grid array",
    "save": "export",
    "smaller": "transform scale",
    "smooth": "shade modifier",
    "spin": "animation keyframe",
    "sun": "light sky",
    "sunset": "sky light",
    "turn": "transform",
    "wall": "mesh",
    "window": "modifier boolean",
    "word": "text",
    "write": "text",
}

# Found in so many declarations that they say nothing about any of them.
SMALL_WORDS = """
a about above all an and any are as at be below by each every five for four from give has have in into is it its make me my new of on one
onto or our out over please set should six so some than that the their them then there these this those three to two up us use want
was which with would you your
"""
STOP_WORDS = frozenset(words_of(SMALL_WORDS))


@dataclass(frozen=True, slots=True)
class PlannerLesson:
    """What the planner knows of one dialect. `tells_request_id`: its documents have one, so that the model is told which."""

    rules: tuple[str, ...]
    example: str
    tools_title: str
    tells_request_id: bool
    tools: Callable[[str, Mapping[str, AnyTool], ContractTerms], Tools]
    schema: Callable[[Tools], ResponseSchema]


LESSONS: dict[PlannableDialect, PlannerLesson] = {
    "operations": PlannerLesson(
        (PLAN_RULES, MORE_RULES),
        OPERATIONS_EXAMPLE,
        "The tools",
        True,
        lambda request, tools, terms: choose_tools(request, permitted_tools(tools, terms)),
        operations_schema,
    ),
    "program": PlannerLesson(
        (PROGRAM_RULES, SCENE_RULES),
        PROGRAM_EXAMPLE,
        "The tools",
        False,
        lambda request, tools, terms: choose_tools(request, permitted_tools(tools, terms)),
        lambda tools: program_schema(),
    ),
    "geonodes": PlannerLesson(
        (GEONODES_RULES,),
        GEONODES_EXAMPLE,
        "The payloads are the arguments of these tools",
        False,
        lambda request, tools, terms: (tools["geonodes.node_tree"], tools["geonodes.patch"]),
        lambda tools: geonodes_schema(*tools),
    ),
}


def permitted_tools(tools: Mapping[str, AnyTool], terms: ContractTerms) -> dict[str, AnyTool]:
    """Those that the contract does not rule out whatever their arguments."""
    rules, capabilities = terms.constraints.rules, set(terms.capabilities)
    return {
        name: tool
        for name, tool in tools.items()
        if ruling(rules, name, tool.safety_mode, tool.safety_level.value).verdict is not Verdict.DENY
        and capabilities.issuperset(tool.requires.capabilities)
    }


def choose_tools(
    request: str, tools: Mapping[str, AnyTool], *, always: Iterable[str] = (), limit: int = MOST_TOOLS
) -> tuple[AnyTool, ...]:
    """At most `limit` tools, the most telling first. `always` are those that an earlier plan used or a finding named."""
    words = _search_words(request)
    ranked = sorted((-score(tool, words), name) for name, tool in tools.items())
    named = [name for name in always if name in tools]
    by_words = [name for rank, name in ranked if rank]
    core = [name for name in CORE if name in tools]
    # A chatty request cannot push out what every scene needs.
    order = [*named, *by_words[: max(0, limit - len(core) - len(named))], *core, *by_words]
    return tuple(tools[name] for name in list(dict.fromkeys(order))[:limit])


def _search_words(request: str) -> list[str]:
    words = [word for word in words_of(request) if word not in STOP_WORDS and len(word) > 2]
    return words + [synonym for word in words for synonym in _synonyms(word).split()]


def _synonyms(word: str) -> str:
    return SYNONYMS.get(word) or SYNONYMS.get(word.removesuffix("s"), "")

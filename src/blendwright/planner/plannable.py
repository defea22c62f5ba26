"""The dialects that models write plans in, one table: what a model is told of each, which tools, and the form of its answer.

Everything about a dialect that the planner knows stands here; reading and running its plans is for `dialects`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from blendwright.planner.port import ResponseSchema
from blendwright.planner.relevance import choose_tools, permitted_tools
from blendwright.planner.response_schema import geonodes_schema, operations_schema
from blendwright.policy.session_contract import Terms
from blendwright.tool_api.tool import AnyTool

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
PlannableDialect = Literal["operations", "geonodes"]
Tools = tuple[AnyTool, ...]


@dataclass(frozen=True, slots=True)
class PlannerLesson:
    """What the planner knows of one dialect. `tells_request_id`: its documents have one, so that the model is told which."""

    rules: tuple[str, ...]
    example: str
    tools_title: str
    tells_request_id: bool
    tools: Callable[[str, Mapping[str, AnyTool], Terms], Tools]
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
    "geonodes": PlannerLesson(
        (GEONODES_RULES,),
        GEONODES_EXAMPLE,
        "The payloads are the arguments of these tools",
        False,
        lambda request, tools, terms: (tools["geonodes.node_tree"], tools["geonodes.patch"]),
        lambda tools: geonodes_schema(*tools),
    ),
}

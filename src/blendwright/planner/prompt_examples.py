"""What every model is taught of our dialects, wherever it sits: one worked example each, and the rules. Text only."""

from __future__ import annotations

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

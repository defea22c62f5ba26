"""Rules and an example plan of each dialect, as the prompt of a language model shows them."""

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
Rules: metres, degrees, linear RGB 0..1, Z up. Names are exact; new names must be unused. safety_level is at least that of the tool
(read_only, safe_write, destructive). depends_on lists the ids that must run first. One request_id per request: keep it in repairs."""

MORE_RULES = """\
Give every object a unique, descriptive name. If an operation uses something that another one creates, put the creator's operation_id
into depends_on. Independent operations have no dependency. A position is the position of an object's origin, and shapes are centred
on it: an object on the floor has z at half its height. Omit arguments whose default fits. If the request gives no sizes, choose
realistic ones. Use only the tools below."""

GEONODES_RULES = """\
Steps run in order, at most 25. Each has a type: NODE_TREE or GN_OPS change the node tree of one object's modifier; PYTHON is the last
resort and may be refused. The nodes group_input and group_output exist already. Set properties before linking sockets that need them.
"done" is accepted only when the gates pass: output connected, no invalid links, no cycles, evaluates, geometry not empty."""
PROGRAM_EXAMPLE = """\
{"program": "wood = material.ensure_principled(name = \\"Oak\\", base_color = [0.45, 0.27, 0.12])\\nfor i in range(4):\\n    leg = \
mesh.create_primitive(kind = \\"cylinder\\", name = \\"Leg_%d\\" % i, radius = 0.03, depth = 0.7, location = vec.polar(0.5, 45 + 90 * i, \
0.35))\\n    material.assign(object = leg, material = wood)\\n"}"""

PROGRAM_RULES = """\
Answer with {"program": text}: a Starlark program that calls tools by name, as noun.verb with named arguments. Starlark is Python without
imports, classes, while, try, sets and the operator **. A call returns a handle: pass it as a name, or use handle.name. Calls run in
the order of the program. Available: math (sin, cos, sqrt, pi, sin_deg, cos_deg …), vec (add, sub, scale, rotate,
polar(radius, degrees, z) …), random(seed) with uniform, int, choice, and pad(7, 2) for "07". The program cannot read the scene.
Findings name its line."""

SCENE_RULES = """\
Rules: metres, degrees, linear RGB 0..1, Z up. Names are exact; new names must be unused. Give every object a unique, descriptive name.
A position is the position of an object's origin, and shapes are centred on it: an object on the floor has z at half its height. Omit
arguments whose default fits. If the request gives no sizes, choose realistic ones. Use only the tools below."""

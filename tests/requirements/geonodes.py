"""Requirements of the geonodes protocol."""

from __future__ import annotations

DOCUMENT = "003 geonodes protocol"

REQUIREMENTS: dict[str, tuple[str, str]] = {
    # ---- the plan
    "GN-PLAN-01": (
        "1, 4-17",
        "A plan is strict JSON: version 1.0, steps, done, final_message and meta, and nothing else.",
    ),
    "GN-PLAN-02": ("7, 130", "A missing final_message is rejected."),
    "GN-PLAN-03": ("7, 128", "Unknown fields are rejected at every level of a plan, with their place."),
    "GN-PLAN-04": ("9, 148-198", "The example of the protocol is a valid plan, and builds on a scene with a Plane."),
    "GN-PLAN-05": ("1, 9", "version is the text 1.0; another one is rejected."),
    "GN-PLAN-06": ("1, 10-12", "steps is a list, done true or false, final_message text; other types are rejected."),
    "GN-PLAN-07": ("1, 4", "Words around the JSON are refused."),
    # ---- its steps
    "GN-STEP-01": (
        "2, 20-28",
        "A step has id, type, description and payload; its type is NODE_TREE, GN_OPS or PYTHON.",
    ),
    "GN-STEP-02": ("7, 129", "Unknown step types are rejected."),
    "GN-STEP-03": ("6, 121", "Steps execute in order."),
    "GN-STEP-04": ("6, 122-124", "On failure execution stops, and an error summary names the failing step.id."),
    "GN-STEP-05": ("6, 123", "Nothing behind the step that failed is executed."),
    "GN-LIMIT-01": ("7, 133", "A plan has at most 25 steps."),
    "GN-LIMIT-02": ("7, 134", "The length of Python code is bounded: configurable, 20,000 characters by default."),
    # ---- payloads
    "GN-PAYLOAD-01": (
        "3, 30-67",
        "NODE_TREE: a target of three names and operations create_node, delete_node, set_input_default, set_property, link, "
        "unlink, set_group_io with the printed fields.",
    ),
    "GN-PAYLOAD-02": (
        "4, 69-105",
        "GN_OPS: v 1, a target and ops ensure_target, ensure_single_group_io, add_node, remove_node, link, unlink, set_input, "
        "cleanup_unused with the printed fields.",
    ),
    "GN-PAYLOAD-03": ("3, 60-67; 4, 97-105", "An op outside the lists of version 1 is rejected."),
    "GN-PAYLOAD-04": ("4, 72", "v of GN_OPS is 1; another one is rejected."),
    "GN-STRICT-01": ("7, 128", "Unknown fields of a payload are rejected, at every level."),
    # ---- NODE_TREE
    "GN-TREE-01": (
        "3, 33-37",
        "The target of NODE_TREE is an object, its modifier and the node group, made where missing.",
    ),
    "GN-TREE-02": ("6, 122-123", "A payload is applied as a whole: where an operation fails, the tree is as it was."),
    "GN-TREE-03": (
        "3, 45-55",
        "Sockets are addressed by name or identifier; what is ambiguous is an error that lists them.",
    ),
    "GN-TREE-04": ("3, 51-55", "link joins an output and an input; a multi-input socket keeps the order of its links."),
    "GN-TREE-05": ("3, 64", "set_property reaches every property of a node, zones and their items included."),
    "GN-TREE-06": ("3, 67", "set_group_io adds, changes, orders and removes the sockets of the group."),
    "GN-TREE-07": ("3, 39-44", "create_node makes a node of the type, under its node_id, at its location."),
    "GN-TREE-08": ("3, 45-50", "set_input_default gives an input its value."),
    "GN-TREE-09": ("3, 62", "delete_node removes the node and its links."),
    "GN-TREE-10": ("3, 66", "unlink removes the links that it names."),
    "GN-TREE-11": ("3, 54", "group_input and group_output are node ids that every tree has."),
    # ---- GN_OPS
    "GN-OPS-01": ("4, 69", "GN_OPS is a deterministic patch: applied twice, it gives the same tree and hash."),
    "GN-OPS-02": ("4, 78", "ensure_target creates the modifier only with allow_create_modifier."),
    "GN-OPS-03": ("4, 79", "ensure_single_group_io leaves one group input and one group output, with their links."),
    "GN-OPS-04": ("4, 80-86", "add_node makes a node of the type under its id at x and y, once."),
    "GN-OPS-05": ("4, 87-92", "set_input gives an input, named by socket_name, its value."),
    "GN-OPS-06": ("4, 101", "remove_node removes the node, and one that is gone already is no error."),
    "GN-OPS-07": ("4, 102-103", "link and unlink make and remove links."),
    "GN-OPS-08": ("4, 105", "cleanup_unused removes the nodes that the output does not need, and no others."),
    "GN-INSPECT-01": ("3, 30-67", "A tree that is exported and built again as NODE_TREE is equal."),
    # ---- PYTHON
    "GN-PYTHON-01": (
        "5, 108-117",
        "The payload of a PYTHON step has mode, code and timeout_ms; safe is the default mode.",
    ),
    "GN-PY-01": ("5, 108-114", "A PYTHON payload has mode, code and timeout_ms; what the code prints is returned."),
    "GN-PY-02": ("5, 117", "safe is the default mode if omitted."),
    "GN-PY-03": ("5, 112", "Code that runs past timeout_ms is ended, and the scene is as before."),
    "GN-PY-04": ("5, 110", "What code may not do is told before it runs, with its line."),
    "GN-PY-05": ("6, 122-124", "Code that raises fails with its line, and the scene is as before."),
    "GN-PY-06": ("7, 134", "Code has a length limit from the settings, 20,000 characters by default."),
    "GN-PY-07": ("5, 118", "trusted requires explicit confirmation by the user: bound to the code, good once."),
    "GN-PY-08": ("5, 110", "Hostile code in safe mode reaches nothing outside, and leaves the scene as before."),
    "GN-PY-09": ("5, 110", "mode is safe or trusted; another one is rejected."),
    # ---- gates and done
    "GN-GATE-01": (
        "8, 136-144",
        "The verifier gives success, failed_gates and messages; each gate fails and passes for its reason.",
    ),
    "GN-GATE-02": ("8, 136-144", "A gate that builds on a failed one is not judged; stale warnings prove nothing."),
    "GN-GATE-03": ("8, 136-144", "Curves, points, volumes and instances count as geometry."),
    "GN-GATE-04": ("8, 141-142", "An output that is not connected fails the gate OUTPUT_CONNECTED, with a message."),
    "GN-DONE-01": ("7, 131", "done=true is not accepted unless the required verification gates pass."),
    "GN-DONE-02": ("6, 125", "done=false runs the steps, reports the gates, and asks for another round."),
    "GN-DONE-03": ("1, 13-15", "meta.requires_gate_verification says whether done depends on the gates."),
    "GN-DONE-04": ("6, 125", "A plan with nothing left to do is done, and says so."),
    "GN-ENVELOPE-01": ("8, 137-144", "The gate envelope has exactly success, failed_gates and messages."),
    "GN-ENVELOPE-02": (
        "8, 146",
        "The envelope of one round can be answered by the next, after which done is accepted.",
    ),
    "GN-ENVELOPE-03": ("8, 146", "The planner is given the envelope of a failed round before it answers again."),
    "GN-EXAMPLE-01": ("7, 131", "Plans that build trees pass their gates and give equal scenes in two processes."),
    "GN-EXAMPLE-02": ("7, 131", "Plans of the protocol pass their gates and give equal scenes in two processes."),
}

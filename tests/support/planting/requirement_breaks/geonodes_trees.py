"""What is broken to prove the tests of the geonodes requirements: payloads, trees, patches and code."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from support.planting.planting import Bug, Function
from support.planting.wrong_functions import changing, finding_nothing, omitted, without_objection

PAYLOADS = "tests/nodes/test_payloads.py"
OPERATIONS = "tests/tools/geonodes/test_tree_operations.py"
LINKS = "tests/tools/geonodes/test_tree_links.py"
TARGETS = "tests/tools/geonodes/test_tree_targets.py"
PATCHES = "tests/tools/geonodes/test_tree_patches.py"
PYTHON = "tests/engine/code/test_python.py"
CODE = "blendwright.tools.python.run:RunPython"


def _dropped(words: str, edit: str, test: str, only: str) -> Bug:
    """An operation is taken and does nothing: its edits are left out."""
    kept = changing(lambda edits: [one for one in edits if type(one).__name__ != edit])
    return Bug(words, "blendwright.nodes.edits:edits_of", kept, test, only)


def _changed(words: str, edit: str, test: str, only: str, **fields: Any) -> Bug:
    """The edit of an operation says something else than the operation."""
    wrong = changing(lambda made: made._replace(**fields) if type(made).__name__ == edit else made)
    return Bug(words, "blendwright.nodes.edits:_edit", wrong, test, only)


def _arguments(words: str, only: str, change: Callable[[Any], Any]) -> Bug:
    """The payload is changed before it is looked at."""

    def make(validate_arguments: Function) -> Function:
        def wrong(tool: Any, raw: Any) -> Any:
            return validate_arguments(tool, change(raw))

        return wrong

    return Bug(words, "blendwright.plan.validate:validate_arguments", make, PAYLOADS, only)


def without_what_is_unknown(raw: Any) -> Any:
    return {name: raw[name] for name in raw if name != "extra"}


def without_unknown_operations(raw: Any) -> Any:
    listed = "operations" if "operations" in raw else "ops"
    return {**raw, listed: [each for each in raw[listed] if each["op"] != "explode"]}


def of_version_one(raw: Any) -> Any:
    return {**raw, "v": 1}


def works_on_the_tree_itself(redraft: Function) -> Function:
    @contextmanager
    def wrong(self: Any, tree: Any) -> Generator[Any]:
        yield tree

    return wrong


def takes_the_first_of_a_name(socket: Function) -> Function:
    def wrong(self: Any, ref: Any, side: Any, *, off: bool = False) -> Any:
        named = [one for one in getattr(self._node(ref.node, ref.node_at), side) if one.name == ref.socket]
        return named[0] if named else socket(self, ref, side, off=off)

    return wrong


def gives_other_names(fill_new_tree: Function) -> Function:
    def wrong(tree: Any) -> Any:
        filled = fill_new_tree(tree)
        for node in tree.nodes:
            node.name = f"The {node.name}"
        return filled

    return wrong


def runs_in_the_scene_itself(isolation_for: Function) -> Function:
    def wrong(self: Any, args: Any) -> Any:
        from blendwright.tool_api.promises import Isolation

        return Isolation.SHARED

    return wrong


def without_its_line(code_error: Function) -> Function:
    def wrong(error: BaseException, printed: str) -> Any:
        return code_error(error.with_traceback(None), printed)

    return wrong


BREAKS: dict[str, Bug] = {
    # ---- payloads
    "GN-PAYLOAD-01": _dropped(
        "set_group_io is taken and does nothing", "SetInterface", PAYLOADS, "means_an_edit[geonodes.node_tree"
    ),
    "GN-PAYLOAD-02": _dropped(
        "cleanup_unused is taken and does nothing", "RemoveUnused", PAYLOADS, "means_an_edit[geonodes.patch"
    ),
    "GN-PAYLOAD-03": _arguments(
        "operations that nobody knows are left out", "unknown_operation", without_unknown_operations
    ),
    "GN-PAYLOAD-04": _arguments("the version of a patch is not looked at", "another_version", of_version_one),
    "GN-STRICT-01": _arguments("unknown fields are dropped in silence", "unknown_field", without_what_is_unknown),
    # ---- NODE_TREE
    "GN-TREE-01": Bug(
        "what was created is not told",
        "blendwright.tools.geonodes.modifier_target:ensure_target",
        changing(lambda made: (made[0], [])),
        TARGETS,
        "everything_missing_is_created",
    ),
    "GN-TREE-02": Bug(
        "a payload is applied to the tree itself and not to a draft",
        "blendwright.blender.scene.node_groups:NodeGroups.redraft",
        works_on_the_tree_itself,
        TARGETS,
        "leaves_the_old_tree_untouched",
    ),
    "GN-TREE-03": Bug(
        "of several sockets of a name the first is taken",
        "blendwright.tools.node_trees.editor:TreeEditor._socket",
        takes_the_first_of_a_name,
        "tests/tools/geonodes/test_tree_nodes.py",
        "several_sockets_have",
    ),
    "GN-TREE-04": _dropped("link is taken and does nothing", "Link", LINKS, "keeps_the_order"),
    "GN-TREE-05": _dropped("set_property is taken and does nothing", "SetProperty", LINKS, "zones_are_paired"),
    "GN-TREE-06": _dropped("set_group_io is taken and does nothing", "SetInterface", LINKS, "sockets_of_the_group_are"),
    "GN-TREE-07": _changed(
        "create_node puts every node at one place", "AddNode", OPERATIONS, "create_node", location=(0.0, 0.0)
    ),
    "GN-TREE-08": _changed(
        "set_input_default sets another value", "SetInput", OPERATIONS, "set_input_default", value=1.0
    ),
    "GN-TREE-09": _changed(
        "delete_node does not mind that there is no node", "RemoveNode", OPERATIONS, "delete_node", missing_ok=True
    ),
    "GN-TREE-10": _dropped("unlink is taken and does nothing", "Unlink", LINKS, "unlinking_one_side"),
    "GN-TREE-11": Bug(
        "the group nodes of a new tree go by other ids",
        "blendwright.tools.geonodes.modifier_target:fill_new_tree",
        gives_other_names,
        OPERATIONS,
        "without_being_created",
    ),
    # ---- GN_OPS
    "GN-OPS-01": _changed(
        "a patch that is applied again finds its nodes in the way", "AddNode", PATCHES, "applied_twice", exist_ok=False
    ),
    "GN-OPS-02": Bug(
        "a patch creates the modifier without leave",
        "blendwright.tools.geonodes.modifier_target:target_problems",
        finding_nothing,
        TARGETS,
        "needs_leave",
    ),
    "GN-OPS-03": _dropped(
        "ensure_single_group_io is taken and does nothing", "EnsureSingleGroupIO", PATCHES, "become_one"
    ),
    "GN-OPS-04": _changed("add_node does not look at x and y", "AddNode", OPERATIONS, "add_node", location=(0.0, 0.0)),
    "GN-OPS-05": _changed("set_input sets another value", "SetInput", OPERATIONS, "set_input_gives", value=1.0),
    "GN-OPS-06": _changed(
        "remove_node minds that the node is gone", "RemoveNode", OPERATIONS, "remove_node", missing_ok=False
    ),
    "GN-OPS-07": _dropped("unlink is taken and does nothing", "Unlink", OPERATIONS, "link_and_unlink"),
    "GN-OPS-08": _dropped("cleanup_unused is taken and does nothing", "RemoveUnused", OPERATIONS, "cleanup_unused"),
    "GN-INSPECT-01": Bug(
        "a tree is exported without its links",
        "blendwright.nodes.tree:to_payload",
        changing(
            lambda made: made.model_copy(update={"operations": [one for one in made.operations if one.op != "link"]})
        ),
        "tests/tools/geonodes/test_geonodes_round_trip.py",
        "built_again_is_equal",
    ),
    # ---- PYTHON
    "GN-PY-01": Bug(
        "what code prints is not returned",
        "blendwright.blender.scene.code.execution:CodeExecution.run_code",
        changing(lambda ran: ("", ran[1])),
        PYTHON,
        "safe_is_the_default",
    ),
    "GN-PY-02": Bug(
        "code without a mode runs in the scene's own process",
        f"{CODE}.isolation_for",
        runs_in_the_scene_itself,
        PYTHON,
        "is_never_used_again",
    ),
    "GN-PY-03": Bug("timeout_ms is overheard", f"{CODE}.seconds_for", omitted, PYTHON, "past_its_time"),
    "GN-PY-04": Bug(
        "code is not read before it runs",
        "blendwright.tools.python.code_check:check_code",
        finding_nothing,
        "tests/tools/test_code_check.py",
        "told_with_its_line",
    ),
    "GN-PY-05": Bug(
        "an exception of code does not say its line",
        "blendwright.blender.scene.code.execution:_code_error",
        without_its_line,
        PYTHON,
        "told_with_its_line",
    ),
    "GN-PY-06": Bug(
        "code may be of any length",
        "blendwright.policy.objections:_lines",
        without_objection("python_code"),
        PYTHON,
        "bounded_by_the_contract",
    ),
    "GN-PY-07": Bug(
        "trusted code needs nobody's yes",
        "blendwright.policy.objections:approval_ruling",
        omitted,
        PYTHON,
        "each_yes_of_a_person",
    ),
    "GN-PY-08": Bug(
        "code that the scene would run later is not looked for",
        "blendwright.blender.scene.code.scripts:active_content",
        changing(lambda found: []),
        "tests/engine/code/test_python_attacks.py",
        "is_stopped[leave_a_registered_text",
    ),
}

"""The tree that a target selects: finding it, creating it where allowed, and opening it for writing."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from blendwright.nodes.tree_payloads import NodesTarget
from blendwright.nodes.tree_sorts import GROUP_COMPOSITOR, OUTPUT, OUTPUT_IMAGE, Owner, TreeSort, sort_of
from blendwright.tool_api.mentions import Mention, Role
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import conflict
from blendwright.tools.geonodes.modifier_target import fill_new_tree
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

AT = "/target"
KINDS: dict[Owner, Kind] = {
    "material": Kind.MATERIAL,
    "world": Kind.WORLD,
    "light": Kind.LIGHT,
    "compositor": Kind.SCENE,
    "group": Kind.NODE_GROUP,
}
# Owners that these tools cannot create: a light needs a type, and a scene is more than its compositor.
MUST_EXIST: dict[Owner, str] = {"light": "Create it with light.create.", "compositor": "Name an existing scene."}
# The source node of a new compositor, which passes the rendered picture through.
RENDER_LAYERS = "CompositorNodeRLayers"


def sort_in(scene: Scene, target: NodesTarget) -> TreeSort:
    return sort_of(target.owner, target.kind, scene.version)


def is_in_scene(scene: Scene, target: NodesTarget) -> bool:
    """Return True if the tree is part of a scene datablock, which has no pre-image: the compositor before Blender 5.0."""
    return target.owner == "compositor" and scene.version[:2] < GROUP_COMPOSITOR


def target_mentions(target: NodesTarget, *, creates: bool) -> Iterable[Mention]:
    role = Role.USES
    if creates and target.owner not in MUST_EXIST:
        role = Role.ENSURES
    yield Mention(role, KINDS[target.owner].blocks, target.name, at=_at(target))
    if creates and target.owner == "compositor":
        yield Mention(Role.ENSURES, Kind.NODE_GROUP.blocks, target.name, surely=False, at=_at(target))


def _at(target: NodesTarget) -> str:
    return f"{AT}/{target.owner}"


def find_tree(scene: Scene, target: NodesTarget) -> Block | None:
    """Return the tree of a target, or None if the owner is missing or has no tree."""
    block = scene.find(KINDS[target.owner], target.name)
    if block is None or target.owner == "group":
        return block
    if target.owner == "compositor":
        if is_in_scene(scene, target):
            if block.use_nodes:
                return block.node_tree
            return None
        return block.compositing_node_group
    if _uses_nodes(scene, block):
        return block.node_tree
    return None


def _uses_nodes(scene: Scene, block: Block) -> bool:
    # Since these versions the owner always has a tree, and reading `use_nodes` is deprecated.
    always_since = (5, 0, 0)
    if scene.kind_of(block) is Kind.LIGHT:
        always_since = (5, 1, 0)
    return scene.version >= always_since or block.use_nodes


def target_problems(scene: Scene, target: NodesTarget, *, creates: bool) -> Findings:
    """Yield findings that explain why a tool cannot work on the tree. `creates` allows a missing tree."""
    kind, at = KINDS[target.owner], _at(target)
    block = scene.find(kind, target.name)
    if block is None:
        if not creates or target.owner in MUST_EXIST:
            for finding in scene.missing(kind, target.name, at):
                cure = MUST_EXIST.get(target.owner, "Add {'op': 'ensure_target'} first, or use nodes.apply_tree.")
                yield Finding(finding.fault, finding.message, at, finding.cure or cure)
        else:
            yield from scene.name_conflicts(kind, target.name, at)
    elif target.owner == "group":
        expected_type = sort_in(scene, target).tree_type
        if block.bl_idname != expected_type:
            message = f"node group '{block.name}' is a {block.bl_idname}, not a {expected_type}"
            yield conflict(message, f"{AT}/kind", "Set 'kind' to the kind of this group, or name another group.")
    elif find_tree(scene, target) is None:
        if not creates:
            message = f"{target.owner} '{target.name}' has no nodes"
            cure = "Build them with nodes.apply_tree, or start the patch with ensure_target."
            yield Finding(Fault.TARGET_NOT_FOUND, message, at, cure)
        elif target.owner == "compositor" and not is_in_scene(scene, target):
            # The node group that becomes the compositor of a scene is named after it.
            yield from scene.name_conflicts(Kind.NODE_GROUP, target.name, at)


def ensure_tree(scene: Scene, target: NodesTarget) -> bool:
    """Create the tree and its owner if they are missing. Return True if something was created."""
    kind = KINDS[target.owner]
    block = scene.find(kind, target.name)
    created = block is None
    if target.owner == "group":
        if block is None:
            sort = sort_in(scene, target)
            _fill_group(scene.create(kind, target.name, sort.tree_type), sort)
        return created
    if block is None:
        block = scene.create(kind, target.name)
        if target.owner == "world":
            scene.set(scene.active, "world", block)  # without this, no scene would use the new world
    if target.owner == "compositor":
        return _ensure_compositor(scene, target, block)
    if not _uses_nodes(scene, block):
        scene.edit(block).use_nodes = True
        created = True
    return created


def _ensure_compositor(scene: Scene, target: NodesTarget, block: Block) -> bool:
    if find_tree(scene, target) is not None:
        return False
    if is_in_scene(scene, target):
        scene.set(block, "use_nodes", True)
        return True
    group = scene.create(Kind.NODE_GROUP, target.name, sort_in(scene, target).tree_type)
    group.interface.new_socket(OUTPUT_IMAGE, in_out="OUTPUT", socket_type="NodeSocketColor")
    layers, output = group.nodes.new(RENDER_LAYERS), group.nodes.new("NodeGroupOutput")
    layers.name, output.name = "Render Layers", OUTPUT
    layers.location, output.location = (-300.0, 0.0), (300.0, 0.0)
    layers.scene = block
    layers.select = output.select = False
    group.links.new(layers.outputs[OUTPUT_IMAGE], output.inputs[OUTPUT_IMAGE])
    scene.set(block, "compositing_node_group", group)
    return True


def _fill_group(group: Block, sort: TreeSort) -> None:
    """Add the first nodes of a new group. A geometry group passes geometry through; other groups get two unconnected ends."""
    if sort.kind == "geometry":
        fill_new_tree(group)
        return
    for number, (node_id, bl_idname) in enumerate(sort.given.items()):
        node = group.nodes.new(bl_idname)
        node.name, node.location, node.select = node_id, (number * 400.0 - 200.0, 0.0), False


@contextmanager
def writable_tree(scene: Scene, target: NodesTarget) -> Generator[tuple[Block, Block]]:
    """Yield the tree to write into, and the tree that it is or will replace. Groups are edited as a copy."""

    tree = find_tree(scene, target)
    assert tree is not None
    if is_in_scene(scene, target):
        yield tree, tree
    elif target.owner in ("group", "compositor"):
        with scene.redraft(tree) as draft:
            yield draft, tree
    else:
        tree = scene.edit(scene.require(KINDS[target.owner], target.name)).node_tree
        yield tree, tree

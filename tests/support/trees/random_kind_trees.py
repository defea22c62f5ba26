"""Random trees of materials and compositors out of their catalogues, as payloads of nodes.apply_tree, and one error put into such a tree.

The same seed gives the same tree and the same error.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

from blendwright.nodes.catalogue.load import Catalogue
from blendwright.nodes.catalogue.model import NodeType, Property, SocketType
from support.trees.node_trees import create, link, prop, value
from support.trees.random_trees import Grown, TreeGrower, operations_of, random_value

PICTURE = "Picture"
TARGETS: dict[str, dict[str, str]] = {"shader": {"material": "Random"}, "compositor": {"compositor": "Scene"}}
SURFACE, IMAGE = "Surface", "Image"
# A closure or a bundle has sockets of what is linked to it.
OTHER_SOCKETS = ("NodeClosure", "NodeEvaluateClosure", "NodeCombineBundle", "NodeSeparateBundle", "NodeJoinBundle")
# Nodes whose values depend on each other, on the file, or on what is linked.
PARTICULAR = {
    "ShaderNodeGroup", "CompositorNodeGroup", "FunctionNodeInputMenu", "NodeImplicitConversion", "NodeEnableOutput",
    "CompositorNodeCryptomatteV2", "CompositorNodeCryptomatte", "CompositorNodeComposite",
}  # fmt: skip
# Before Blender 5.0 these have settings that change each other.
BEFORE_50 = {
    "CompositorNodeColorBalance", "CompositorNodeChromaMatte", "CompositorNodeChannelMatte", "CompositorNodeLumaMatte",
    "CompositorNodeDiffMatte", "CompositorNodeColorMatte", "CompositorNodeDistanceMatte",
}  # fmt: skip


def random_tree(seed: int, catalogue: Catalogue, size: int = 12) -> dict[str, Any]:
    """A payload of nodes.apply_tree that builds a whole tree."""
    return KindGrower(random.Random(seed), catalogue).grow(size)


class KindGrower(TreeGrower):
    """Grows trees that end in the output of a material or a compositor."""

    def grow(self, size: int) -> dict[str, Any]:
        target = TARGETS[self.catalogue.tree_kind]
        return {**super().grow(size), "target": target, "clear": True}

    def usable(self) -> list[NodeType]:
        return [
            node
            for node in super().usable()
            if node.bl_idname not in PARTICULAR
            and not (self.catalogue.blender < "5.0" and node.bl_idname in BEFORE_50)
            and not node.bl_idname.startswith(OTHER_SOCKETS)
            and not node.bl_idname.startswith("ShaderNodeOutput")
        ]

    def interface(self) -> None:
        """Not for a tree that is no group."""

    def property_value(self, prop: Property) -> Iterator[Any]:
        match prop.type:
            case "COLOR_RAMP":
                stops = sorted(self.rng.sample(range(9), 3))
                yield {"elements": [{"position": stop / 8, "color": [stop / 8, 0.5, 0.25, 1.0]} for stop in stops]}
            case "DATABLOCK" if prop.kind == "Image":
                yield PICTURE
            case "PART" if prop.name == "image_user":
                yield {"frame_offset": self.rng.randrange(100), "use_cyclic": self.rng.random() < 0.5}
            case "FLOAT" if prop.name == "width":
                yield 200.0  # that of some nodes is fixed before Blender 5.2
            case _:
                yield from random_value(self.rng, prop)

    def fitting(self, node: Grown, target: SocketType) -> Iterator[tuple[Grown, SocketType]]:
        for source in self.nodes:
            for output in source.outputs:
                known = (source.id + output.key, node.id + target.key) in self.linked
                allowed = source.only_to in (None, node.id) and output.kind != "MENU"
                if self.catalogue.tree_kind == "compositor" and self.catalogue.blender in ("5.0", "5.1"):
                    # These tell pictures from single values, which the catalogue does not.
                    allowed = allowed and output.kind == target.kind == "RGBA"
                if allowed and not known and self.catalogue.converts(output.kind, target.kind):
                    yield source, output

    def finish(self) -> None:
        shader = self.catalogue.tree_kind == "shader"
        wanted, socket = ("SHADER", SURFACE) if shader else ("RGBA", IMAGE)
        ends = [(node, output) for node in self.nodes for output in node.outputs
                if node.only_to is None and self.catalogue.converts(output.kind, wanted)]  # fmt: skip
        if ends:
            target = SocketType(socket, socket, "", wanted)
            self.link(*ends[-1], "output", target)


# ---------------------------------------------------------------------- one error

Operations = list[dict[str, Any]]


def with_error(seed: int, payload: dict[str, Any]) -> tuple[str, dict[str, Any], str]:
    """The kind of error, the payload with it, and the pointer. Kinds take turns, so that all occur."""
    name, error = list(ERRORS.items())[seed % len(ERRORS)]
    broken = copy.deepcopy(payload)
    pointer = error(random.Random(seed), broken["operations"])
    return name, broken, pointer


def _append(operations: Operations, *added: dict[str, Any]) -> str:
    operations += added
    return f"/operations/{len(operations) - 1}"


def _created(rng: random.Random, operations: Operations) -> dict[str, Any]:
    return rng.choice(operations_of({"operations": operations}, "create_node"))[1]


def unknown_type(rng: random.Random, operations: Operations) -> str:
    wrong = rng.choice(("ShaderNodeTexNoisy", "GeometryNodeMeshCube", "CompositorNodeOutputFile", "ShaderNodeScript"))
    return _append(operations, create("extra", wrong)) + "/bl_idname"


def duplicate_id(rng: random.Random, operations: Operations) -> str:
    return _append(operations, create(_created(rng, operations)["node_id"], "ShaderNodeTexMagic")) + "/node_id"


def unknown_node(rng: random.Random, operations: Operations) -> str:
    return _append(operations, link(("nowhere", "Color"), ("output", SURFACE))) + "/from/node_id"


def deleted_node(rng: random.Random, operations: Operations) -> str:
    gone = {"op": "delete_node", "node_id": "extra"}
    return _append(operations, create("extra", "ShaderNodeTexMagic"), gone, value("extra", "Scale", 1.0)) + "/node_id"


def unknown_input(rng: random.Random, operations: Operations) -> str:
    wrong = rng.choice(("Skale", "Roughness", "Scale#2"))
    return _append(operations, create("extra", "ShaderNodeTexMagic"), value("extra", wrong, 1.0)) + "/socket"


def unknown_output(rng: random.Random, operations: Operations) -> str:
    return (
        _append(operations, create("extra", "ShaderNodeTexMagic"), link(("extra", "BSDF"), ("output", SURFACE)))
        + "/from/socket"
    )


def unknown_socket_of_the_output(rng: random.Random, operations: Operations) -> str:
    return (
        _append(operations, create("extra", "ShaderNodeTexMagic"), link(("extra", "Color"), ("output", "Colour")))
        + "/to/socket"
    )


def shader_into_a_colour(rng: random.Random, operations: Operations) -> str:
    nodes = create("one", "ShaderNodeEmission"), create("two", "ShaderNodeBsdfPrincipled")
    return _append(operations, *nodes, link(("one", "Emission"), ("two", "Base Color")))


def cycle(rng: random.Random, operations: Operations) -> str:
    names = [f"loop{number}" for number in range(rng.randint(1, 4))]
    operations += [create(name, "ShaderNodeTexMagic") for name in names]
    ends = (link((name, "Color"), (names[(number + 1) % len(names)], "Vector")) for number, name in enumerate(names))
    return _append(operations, *ends)


def unknown_property(rng: random.Random, operations: Operations) -> str:
    return _append(operations, prop(_created(rng, operations)["node_id"], "lable", "x")) + "/property"


def path_of_a_file(rng: random.Random, operations: Operations) -> str:
    return (
        _append(operations, create("extra", "ShaderNodeTexIES"), prop("extra", "filepath", "/etc/passwd")) + "/property"
    )


def bad_enum(rng: random.Random, operations: Operations) -> str:
    nodes = create("extra", "ShaderNodeTexVoronoi")
    return _append(operations, nodes, prop("extra", "feature", rng.choice(("F9", "", "f1", 3, None)))) + "/value"


def property_of_wrong_type(rng: random.Random, operations: Operations) -> str:
    name, wrong = rng.choice((("mute", 1), ("label", 7), ("hide", "no"), ("color", "red"), ("parent", 4)))
    return _append(operations, create("extra", "ShaderNodeTexMagic"), prop("extra", name, wrong)) + "/value"


def image_that_is_no_name(rng: random.Random, operations: Operations) -> str:
    return _append(operations, create("extra", "ShaderNodeTexImage"), prop("extra", "image", 3)) + "/value"


def unknown_part(rng: random.Random, operations: Operations) -> str:
    wrong = prop("extra", "image_user", {"frame_ofset": 2})
    return _append(operations, create("extra", "ShaderNodeTexImage"), wrong) + "/value/frame_ofset"


def value_of_wrong_type(rng: random.Random, operations: Operations) -> str:
    socket, wrong = rng.choice(
        (("Base Color", [1.0, 0.0]), ("Base Color", "red"), ("Roughness", [1.0] * 3), ("Roughness", "x"))
    )
    return _append(operations, create("extra", "ShaderNodeBsdfPrincipled"), value("extra", socket, wrong)) + "/value"


def value_of_a_shader(rng: random.Random, operations: Operations) -> str:
    return _append(operations, value("output", SURFACE, 1.0)) + "/value"


def no_output(rng: random.Random, operations: Operations) -> str:
    # Its links are gone with it.
    return _append(operations, {"op": "delete_node", "node_id": "output"})


def sockets_of_a_material(rng: random.Random, operations: Operations) -> str:
    return _append(operations, {"op": "set_group_io", "inputs": [{"name": "X", "socket_type": "NodeSocketFloat"}]})


ERRORS: dict[str, Callable[[random.Random, Operations], str]] = {
    error.__name__: error
    for error in (
        unknown_type, duplicate_id, unknown_node, deleted_node, unknown_input, unknown_output,
        unknown_socket_of_the_output, shader_into_a_colour, cycle, unknown_property, path_of_a_file, bad_enum,
        property_of_wrong_type, image_that_is_no_name, unknown_part, value_of_wrong_type, value_of_a_shader, no_output,
        sockets_of_a_material,
    )
}  # fmt: skip

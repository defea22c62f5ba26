"""A scratch tree to try things in, and how Blender's values are written down."""

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Generator, Iterable, Sequence
from typing import Any, cast

import bpy
import numpy

Settings = Sequence[tuple[str, Any]]
# Blender 4.5 has these behind a switch for experiments, and dies when a closure is paired. In 5.0 they have other names.
EXPERIMENTS = (
    "GeometryNodeClosure",
    "GeometryNodeEvaluateClosure",
    "GeometryNodeCombineBundle",
    "GeometryNodeSeparateBundle",
)
FAMILIES = ("CompositorNode", "FunctionNode", "GeometryNode", "Node", "ShaderNode")
TREES = {"geometry": "GeometryNodeTree", "shader": "ShaderNodeTree", "compositor": "CompositorNodeTree"}
# Nodes that write files by themselves or run code: no plan can have them.
NOT_OFFERED = ("CompositorNodeOutputFile", "ShaderNodeScript")
# The compositor's tree belongs to the scene before Blender 5.0, and some nodes are in that tree only.
GROUP_COMPOSITOR = bpy.app.version >= (5, 0, 0)


class Scratch:
    """A tree for trials, of one kind."""

    def __init__(self, kind: str = "geometry") -> None:
        self.kind = kind
        if kind == "compositor" and not GROUP_COMPOSITOR:
            scene: Any = bpy.context.scene
            scene.use_nodes = True
            self.tree: Any = scene.node_tree
            self.tree.nodes.clear()
        else:
            self.tree = self.group("survey")

    def group(self, name: str) -> Any:
        """A new node group of this kind."""
        data: Any = bpy.data
        return data.node_groups.new(name, TREES[self.kind])

    @contextlib.contextmanager
    def node(self, bl_idname: str, settings: Settings = ()) -> Generator[Any]:
        """A new node with these settings; it is gone afterwards."""
        node = self.tree.nodes.new(bl_idname)
        try:
            for name, value in settings:
                setattr(node, name, value)
            yield node
        finally:
            self.tree.nodes.remove(node)

    def link(self, source: Any, target: Any) -> Any:
        return self.tree.links.new(target, source)

    def valid(self, source: Any, target: Any) -> bool:
        """Whether Blender takes a link between these; it is gone afterwards."""
        link = self.link(source, target)
        try:
            return bool(link.is_valid)
        finally:
            self.tree.links.remove(link)


def type_names(scratch: Scratch) -> list[str]:
    """Every node type that a tree of this kind takes."""
    types: Any = bpy.types
    found: list[str] = []
    with silence():
        for name in sorted(dir(types)):
            kind = getattr(types, name)
            if not (name.startswith(FAMILIES) and isinstance(kind, type) and issubclass(kind, types.Node)):
                continue
            if name.startswith(EXPERIMENTS) or name in NOT_OFFERED:
                continue
            # A type that does not belong here raises.
            with contextlib.suppress(RuntimeError), scratch.node(name):
                found.append(name)
    return found


@contextlib.contextmanager
def silence() -> Generator[None]:
    """Blender tells standard output of every refused node; file descriptors are what it writes to."""
    saved, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(nowhere)


def choices(holder: Any, name: str) -> list[str]:
    """What an enum takes just now. Blender lists it when it refuses a value; the declared items are often more."""
    try:
        setattr(holder, name, "?no such item?")
    except TypeError as refusal:
        text = str(refusal)
        return [str(item) for item in ast.literal_eval(text[text.rindex(" not found in ") + 14 :])]
    raise AssertionError(f"{holder.bl_idname}.{name} takes anything")


def plain(value: Any) -> Any:
    """A value of Blender as JSON. Floats are single precision there: the shortest text that means the same one."""
    if isinstance(value, float):
        return float(str(numpy.float32(value)))
    if isinstance(value, set):
        return sorted(cast("set[str]", value))
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if hasattr(value, "__len__"):
        return [plain(part) for part in cast("Iterable[Any]", value)]
    return None

"""Node trees: nodes by name, sockets, links, interface.

Responsible for: an encoding that does not depend on the order of nodes (which selecting changes) or links.
"""

from typing import Any

from blendwright.blender.fingerprint.floats import fold, fold_all
from blendwright.blender.fingerprint.identity import key_of
from blendwright.blender.fingerprint.walk import Out, Walk


def encode_tree(walk: Walk, tree: Any, out: Out) -> None:
    nodes = sorted([(node.name, node) for node in tree.nodes], key=lambda pair: pair[0])
    out.append(len(nodes))
    for _, node in nodes:
        walk.inner(node, out)
    out.append(sorted([_link(link) for link in tree.links]))
    items = tree.interface.items_tree
    out.append(len(items))
    for item in items:
        walk.inner(item, out)
        # Panels may share a name, so the parent goes by its place.
        out.append(item.parent.index)


def _link(link: Any) -> tuple[Any, ...]:
    return (
        link.to_node.name,
        link.to_socket.identifier,
        link.multi_input_sort_id,
        link.from_node.name,
        link.from_socket.identifier,
        link.is_muted,
    )


def encode_sockets(walk: Walk, node: Any, out: Out) -> None:
    _sockets(walk, node.inputs, out)
    _sockets(walk, node.outputs, out)


def _sockets(walk: Walk, sockets: Any, out: Out) -> None:
    # The same content as walk.struct gives, kept short: a default material has 35 sockets.
    channels = walk.channels
    for socket in sockets:
        layout, _ = walk.layout_of(socket)
        if channels and (socket.as_pointer(), layout.name) in channels:
            walk.struct(socket, out)
            continue
        out.append(layout.name)
        if layout.scalars:
            out.append(layout.scalars(socket))
        if layout.floats:
            for value in layout.floats(socket):
                out.append(fold(value))
        if layout.vectors:
            for value in layout.vectors(socket):
                out.append(fold_all(value))
        if layout.parts:
            for value in layout.parts(socket):
                out.append(None if value is None else key_of(value))
        if layout.custom:  # sockets of builtin types carry no custom properties
            walk.properties(socket, layout, None, out)


def encode_image_layers(_walk: Walk, node: Any, out: Out) -> None:
    """Layer and view of an image with several; for others they have no valid value."""
    out.append(node.layer if node.has_layers else None)
    out.append(node.view if node.has_views else None)

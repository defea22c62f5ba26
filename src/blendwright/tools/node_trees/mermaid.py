"""A tree as a Mermaid flow chart: nodes with what was set on them, links with the sockets they join."""

from __future__ import annotations

from typing import Any

from blendwright.nodes.tree import Tree, TreeNode

MOST_VALUES = 4
MOST_TEXT = 40
SHORTENED = ("GeometryNode", "ShaderNode", "FunctionNode", "Node")


def diagram(tree: Tree) -> str:
    """One line per node and per link; frames become boxes around their nodes."""
    names = {node.id: f"n{number}" for number, node in enumerate(tree.nodes)}
    frames = {node.id for node in tree.nodes if node.bl_idname == "NodeFrame"}
    inside: dict[str | None, list[TreeNode]] = {}
    for node in tree.nodes:
        parent = node.properties.get("parent")
        inside.setdefault(parent if isinstance(parent, str) else None, []).append(node)
    lines = ["flowchart LR"]

    def draw(frame: str | None, indent: str) -> None:
        for node in inside.get(frame, []):
            if node.id in frames:
                lines.append(f"{indent}subgraph {names[node.id]}[{_quoted([_title(node)])}]")
                draw(node.id, indent + "  ")
                lines.append(f"{indent}end")
            else:
                lines.append(f"{indent}{names[node.id]}[{_quoted([_title(node), *_values(node)])}]")

    draw(None, "  ")
    for link in tree.links:
        ends = _quoted([f"{link.source.socket} → {link.target.socket}"])
        lines.append(f"  {names[link.source.node_id]} -->|{ends}| {names[link.target.node_id]}")
    return "\n".join(lines) + "\n"


def _title(node: TreeNode) -> str:
    label = node.properties.get("label")
    kind = node.bl_idname
    for prefix in SHORTENED:
        if kind.startswith(prefix) and kind != prefix:
            kind = kind.removeprefix(prefix)
            break
    if isinstance(label, str) and label:
        shown = label
    else:
        shown = node.id
    if shown == node.bl_idname:
        return kind
    return f"{shown}: {kind}"


def _values(node: TreeNode) -> list[str]:
    values: dict[str, Any] = {**node.properties, **node.inputs}
    shown = [f"{name} = {_short(value)}" for name, value in values.items() if name not in ("label", "parent")]
    return shown[:MOST_VALUES] + (["…"] if len(shown) > MOST_VALUES else [])


def _short(value: Any) -> str:
    text = str(value)
    if len(text) <= MOST_TEXT:
        return text
    return text[: MOST_TEXT - 1] + "…"


def _quoted(lines: list[str]) -> str:
    """Text that Mermaid takes literally."""
    text = "<br/>".join(line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for line in lines)
    return '"' + text.replace('"', "&quot;").replace("\n", " ") + '"'

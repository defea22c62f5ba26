"""Drawing of a tree as a Mermaid flow chart: nodes with the values set on them, links with the sockets they join."""

from __future__ import annotations

from typing import Any

from blendwright.nodes.tree import Tree, TreeNode

MAX_VALUES = 4
MAX_CHARACTERS = 40
SHORTENED = ("GeometryNode", "ShaderNode", "FunctionNode", "Node")


def diagram(tree: Tree) -> str:
    """Return a flow chart with one line per node and per link. Frames become boxes around their nodes."""
    names = {node.id: f"n{number}" for number, node in enumerate(tree.nodes)}
    frames = {node.id for node in tree.nodes if node.bl_idname == "NodeFrame"}
    children: dict[str | None, list[TreeNode]] = {}
    for node in tree.nodes:
        parent = node.properties.get("parent")
        if not isinstance(parent, str):
            parent = None
        children.setdefault(parent, []).append(node)
    lines = ["flowchart LR"]

    def draw(frame: str | None, indent: str) -> None:
        for node in children.get(frame, []):
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
    shown: list[str] = []
    for name, value in values.items():
        if name not in ("label", "parent"):
            shown.append(f"{name} = {_short(value)}")
    if len(shown) > MAX_VALUES:
        return [*shown[:MAX_VALUES], "…"]
    return shown


def _short(value: Any) -> str:
    text = str(value)
    if len(text) <= MAX_CHARACTERS:
        return text
    return text[: MAX_CHARACTERS - 1] + "…"


def _quoted(lines: list[str]) -> str:
    """Return lines as one quoted label, escaped so that Mermaid shows them literally."""
    text = "<br/>".join(line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for line in lines)
    return '"' + text.replace('"', "&quot;").replace("\n", " ") + '"'

"""Examples at the end of the help of each command, one line each, with a comment when the line needs one.

A test parses every line with the real command line, and runs the cheap ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from blendwright.capabilities import capabilities

# By the words of a command. The text after # is a comment, as in a shell.
CORE: Mapping[str, tuple[str, ...]] = {
    "new": (
        "blendwright new                              # .blendwright, here",
        "blendwright new --workspace shop --scene shop.blend",
    ),
    "run": (
        "blendwright run plan.json --image picture.png --export scene.blend",
        "blendwright run sunflower.star --set pearls=90 --instead    # in place of the last plan",
        "blendwright run plan.json --approve destructive    # it may delete",
    ),
    "preview": (
        "blendwright preview plan.json",
        "blendwright preview sunflower.star --set pearls=400 --image picture.png",
        "blendwright preview sunflower.star --set pearls=90 --instead    # in place of the last plan",
    ),
    "call": (
        """blendwright call mesh.create_primitive --args '{"kind": "cube", "name": "Box"}'""",
        "blendwright call scene.snapshot --scene shop.blend",
        """blendwright call object.delete --args '{"object": "Box"}' --rehearse""",
    ),
    "validate": (
        "blendwright validate plan.json",
        "blendwright validate sunflower.star --set pearls=400 --yielded plan.json",
    ),
    "tools": (
        "blendwright tools                            # all of them",
        "blendwright tools mesh.create_primitive      # one, with its arguments",
        "blendwright tools 'bevel edges'              # those that do something",
    ),
    "macros": ("blendwright macros", "blendwright macros studio.three_point"),
    "schemas": ("blendwright schemas", "blendwright schemas planner_operations.v1"),
    "contract": ("blendwright contract", "blendwright contract --json"),
    "approve": (
        "blendwright approve                          # what waits",
        "blendwright approve 4f2a --yes",
        "blendwright approve 4f2a --decline",
    ),
    "nodes": (
        "blendwright nodes noise",
        "blendwright nodes ShaderNodeTexNoise --kind shader",
        "blendwright nodes --blender 4.2 --json",
    ),
    "snapshot": ("blendwright snapshot --find 'Lamp*'", "blendwright snapshot --scene shop.blend --json"),
    "look": (
        "blendwright look --image now.png --view front",
        "blendwright look --image change.png --before 12",
        "blendwright look --image beside.png --reference photo.png",
    ),
    "gates": ("blendwright gates Terrain", "blendwright gates Terrain --modifier GeometryNodes --json"),
    "log": (
        "blendwright log                              # a row for each plan",
        "blendwright log --operations --limit 50      # a row for each operation",
        "blendwright log --request table-7            # what one request did",
    ),
    "show": ("blendwright show HEAD", "blendwright show 12 --json"),
    "diff": ("blendwright diff 12                          # since commit 12", "blendwright diff 12 15"),
    "checkout": ("blendwright checkout 12", "blendwright checkout main"),
    "undo": ("blendwright undo --plan", "blendwright undo --count 3"),
    "redo": ("blendwright redo",),
    "export": ("blendwright export scene.blend", "blendwright export earlier.blend --at 12 --overwrite"),
    "adopt": ("blendwright adopt scene.blend",),
    "gc": ("blendwright gc --dry-run", "blendwright gc"),
    "externals": ("blendwright externals", "blendwright externals --json"),
    "metrics": ("blendwright metrics", "blendwright metrics --openmetrics"),
    "replay": ("blendwright replay", "blendwright replay --blender 4.5"),
    "recover": (
        "blendwright recover                          # what is wrong, and the ways out",
        "blendwright recover --to 12",
    ),
    "completion": (
        "blendwright completion bash > ~/.local/share/bash-completion/completions/blendwright",
        "blendwright completion zsh > ~/.zfunc/_blendwright",
        "blendwright completion fish > ~/.config/fish/completions/blendwright.fish",
    ),
}


def all_examples() -> Mapping[str, tuple[str, ...]]:
    """Return the examples of every command, by its words."""
    examples = dict(CORE)
    for capability in capabilities():
        examples |= capability.examples
    return examples


def epilog(name: str) -> str | None:
    """Return the text at the end of a command's help, or None without examples. Typer does not wrap lines after \\b."""
    if name in CORE:
        lines = CORE[name]
    else:
        lines = all_examples().get(name, ())
    if lines:
        return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
    return None

"""What the help of each command ends with: examples, one line each, and what they do where the line does not say it.

A test gives every line to the real command line; those that are cheap are run.
"""

from __future__ import annotations

from collections.abc import Mapping

# By the words of a command; what stands behind # is for people, as in a shell.
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "new": (
        "blendwright new                              # .blendwright, here",
        "blendwright new --workspace shop --scene shop.blend",
    ),
    "run": (
        "blendwright run plan.json --image picture.png --export scene.blend",
        "blendwright run sunflower.star --set pearls=90 --instead    # in place of the last plan",
        "blendwright run plan.json --approve destructive    # it may delete",
    ),
    "ask": (
        "blendwright ask 'a round table with four chairs'",
        "blendwright ask 'make the lamp red' --yes --image lamp.png",
        "blendwright ask 'a fence' --dry-run            # only the plan",
    ),
    "eval": (
        "blendwright eval examples/requests",
        "blendwright eval examples/requests --only table --attempts 2",
    ),
    "batch": ("blendwright batch run toys.star --seeds 0:500 --workers 2 --out toys",),
    "batch run": (
        "blendwright batch run toys.star --seeds 0:500 --workers 2 --out toys",
        "blendwright batch run toys.star --params toys.csv --output glb --out toys",
        "blendwright batch run toys.json --out toys        # the same again: goes on",
    ),
    "batch status": ("blendwright batch status toys",),
    "batch retry": ("blendwright batch retry toys --failed",),
    "batch dataset": ("blendwright batch dataset toys --format coco --to toys/coco",),
    "batch show": ("blendwright batch show toys 42",),
    "batch export": ("blendwright batch export toys.star --seeds 0:500 --out toys --to job --format openjd",),
    "worker": (
        "blendwright worker --engine postgres://artist@db/batches --workers 4",
        "blendwright worker --engine env --once           # until nothing waits",
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
    "assets": ("blendwright assets wooden chair", "blendwright assets --kind materials --limit 5"),
    "gates": ("blendwright gates Terrain", "blendwright gates Terrain --modifier GeometryNodes --json"),
    "log": (
        "blendwright log                              # a row for each plan",
        "blendwright log --operations --limit 50      # a row for each operation",
        "blendwright log --request table-7            # what one request did",
    ),
    "show": ("blendwright show HEAD", "blendwright show 12 --json"),
    "diff": ("blendwright diff 12                          # since commit 12", "blendwright diff 12 15"),
    "checkout": ("blendwright checkout 12", "blendwright checkout main"),
    "branch": (
        "blendwright branch",
        "blendwright branch red-lamp 12",
        "blendwright branch red-lamp --delete",
    ),
    "switch": ("blendwright switch red-lamp", "blendwright switch blue-lamp --create --at 12"),
    "tag": ("blendwright tag approved", "blendwright tag draft 12"),
    "fork": ("blendwright fork HEAD ../variant", "blendwright fork 12 ../earlier"),
    "blame": (
        "blendwright blame",
        "blendwright blame Lamp --property location.2",
        "blendwright blame Steel --kind materials",
    ),
    "bisect": (
        "blendwright bisect --expect 'audit.errors == 0'",
        """blendwright bisect --expect '"Lamp" in scene.objects' --good 12""",
    ),
    "merge": ("blendwright merge red-lamp --dry-run", "blendwright merge red-lamp"),
    "undo": ("blendwright undo --plan", "blendwright undo --count 3"),
    "redo": ("blendwright redo",),
    "export": ("blendwright export scene.blend", "blendwright export earlier.blend --at 12 --overwrite"),
    "adopt": ("blendwright adopt scene.blend",),
    "gc": ("blendwright gc --dry-run", "blendwright gc"),
    "externals": ("blendwright externals", "blendwright externals --json"),
    "metrics": ("blendwright metrics", "blendwright metrics --openmetrics"),
    "replay": ("blendwright replay", "blendwright replay --blender 4.5"),
    "upgrade": (
        "blendwright upgrade --blender 5.2            # only the report",
        "blendwright upgrade --blender 5.2 --yes --report report",
    ),
    "compare": ("blendwright compare shop.blend --blender 4.5 --blender 5.2",),
    "recover": (
        "blendwright recover                          # what is wrong, and the ways out",
        "blendwright recover --to 12",
    ),
    "serve": (
        "blendwright serve --workspace shop           # over stdio, for a host",
        "blendwright serve --http 127.0.0.1:8000 --ui",
    ),
    "ui": ("blendwright ui", "blendwright ui shop --read-only --no-open", "blendwright ui --engine env"),
    "attach": ("blendwright attach --list", "blendwright attach", "blendwright attach 4711 --restore"),
    "detach": ("blendwright detach",),
    "extension": ("blendwright extension", "blendwright extension --output window.zip"),
    "doctor": ("blendwright doctor", "blendwright doctor --host gemini-cli"),
    "init-host": (
        "blendwright init-host claude-desktop",
        "blendwright init-host codex --print          # only show what would be written",
    ),
    "audit": ("blendwright audit verify",),
    "audit verify": ("blendwright audit verify", "blendwright audit verify proof.jsonl"),
    "audit bundle": ("blendwright audit bundle proof.jsonl", "blendwright audit bundle proof.jsonl --scenes"),
    "audit key": ("blendwright audit key",),
    "audit list": ("blendwright audit list --status failed", "blendwright audit list --tool object.delete"),
    "blender": ("blendwright blender list",),
    "blender list": ("blendwright blender list",),
    "blender add": ("blendwright blender add 4.5", "blendwright blender add /usr/bin/blender --name studio"),
    "blender remove": ("blendwright blender remove 4.5",),
    "completion": (
        "blendwright completion bash > ~/.local/share/bash-completion/completions/blendwright",
        "blendwright completion zsh > ~/.zfunc/_blendwright",
        "blendwright completion fish > ~/.config/fish/completions/blendwright.fish",
    ),
}


def epilog(name: str) -> str | None:
    """The end of a command's help. Lines between \\b and an empty line are not wrapped."""
    lines = EXAMPLES.get(name, ())
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines))) if lines else None

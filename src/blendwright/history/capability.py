"""Registration of the capability `history`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="history",
    summary="Branches, tags, forks, merges, blame and bisect.",
    commands={
        "branch": Command(
            "history.commands.branches", "branch", "List the branches, create one at a commit, or delete one."
        ),
        "switch": Command(
            "history.commands.branches",
            "switch",
            "Switch to a branch: its scene becomes the current one, and later commits belong to the branch.",
        ),
        "tag": Command(
            "history.commands.branches",
            "tag",
            "List the tags, or give a commit a name that stays with it. An existing tag moves.",
        ),
        "fork": Command(
            "history.commands.branches",
            "fork",
            "Create a new workspace that begins with the scene of a commit. The current workspace stays unchanged.",
        ),
        "blame": Command(
            "history.commands.blame",
            "blame",
            "Show the commits that made and changed an object, newest first, with their requests and authors.",
        ),
        "bisect": Command(
            "history.commands.bisect",
            "bisect",
            "Find the first commit that fails a check. This rebuilds few scenes in a separate Blender and leaves the workspace unchanged.",
        ),
        "merge": Command(
            "history.commands.merge",
            "merge",
            "Run the commits of another branch again on top of this one, either all of them or none.",
        ),
    },
    examples={
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
    },
)

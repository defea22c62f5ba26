"""Registers the capability `history`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="history",
    summary="Branches, tags, forks, merges, blame and bisect.",
    commands={
        "branch": Command(
            "history.commands.branches", "branch", "List the branches, begin one at a commit, or delete one."
        ),
        "switch": Command(
            "history.commands.branches",
            "switch",
            "Go on with a branch: its scene becomes the current one, and what is done takes the branch along.",
        ),
        "tag": Command(
            "history.commands.branches",
            "tag",
            "List the tags, or give a commit a name that stays with it; a tag that is there is moved.",
        ),
        "fork": Command(
            "history.commands.branches",
            "fork",
            "Make a new workspace that begins with the scene of a commit; this one stays as it is.",
        ),
        "blame": Command(
            "history.commands.blame",
            "blame",
            "Show which commits made and changed an object, newest first: by which request, and who asked for it.",
        ),
        "bisect": Command(
            "history.commands.bisect",
            "bisect",
            "Find the first commit that does not pass a check, rebuilding few scenes beside the workspace, which stays as it is.",
        ),
        "merge": Command(
            "history.commands.merge",
            "merge",
            "Run the commits of another branch again on top of this one: all of them or none.",
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

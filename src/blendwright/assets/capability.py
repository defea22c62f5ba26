"""The registration of the capability `assets`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="assets",
    summary="Search, import and link assets from folders and from an online catalogue.",
    commands={
        "assets": Command(
            "assets.commands",
            "assets",
            "List the assets in the folders that blendwright.toml names, or only the assets that match the words.",
        ),
    },
    offers={"asset_supply": "assets.supply:library_supply"},
    examples={
        "assets": ("blendwright assets wooden chair", "blendwright assets --kind materials --limit 5"),
    },
)

"""Registers the capability `assets`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="assets",
    summary="Folders of assets and an online catalogue: searched, imported, linked.",
    commands={
        "assets": Command(
            "assets.commands",
            "assets",
            "List the assets in the folders that blendwright.toml names, or those that fit some words.",
        ),
    },
    offers={"asset_supply": "assets.supply:library_supply"},
    examples={
        "assets": ("blendwright assets wooden chair", "blendwright assets --kind materials --limit 5"),
    },
)

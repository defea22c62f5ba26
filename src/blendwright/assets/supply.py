"""What the core brings to a call of the asset tools: assets that fit some words, or one from an online catalogue."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from blendwright.assets.index import AssetLibraries
from blendwright.assets.online import HttpCatalogue
from blendwright.assets.search import search
from blendwright.engine.files.resolved_paths import without_links
from blendwright.policy.policy import Policy
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

if TYPE_CHECKING:
    from blendwright.assets.online import OnlineCatalogue

FOUND = "found.json"
NO_LIBRARIES = 'Name folders in [assets.directories] of blendwright.toml, such as props = "~/assets".'
NO_CATALOGUE = 'Name one in [assets.online] of your own blendwright.toml, and set network = "allow" in [policy].'


@dataclass(frozen=True, slots=True)
class LibrarySupply:
    """The libraries of a workspace, and a catalogue on another machine where the user has named one."""

    libraries: AssetLibraries
    online: OnlineCatalogue | None = None

    @property
    def folders(self) -> Collection[Path]:
        return self.libraries.directories.values()

    def place(self, asset: str) -> Path | None:
        return self.libraries.place(asset)

    def holds(self, path: Path) -> bool:
        return self.libraries.holds(path)

    def supply(self, role: str, argument: str, args: Mapping[str, Any], directory: Path) -> str:
        """Leave in a directory of the worker what a call asks for; returns its path. Raises Refusal."""
        if role == "search":
            return self._search(argument, args, directory)
        return self._fetch(argument, args, directory)

    def _search(self, argument: str, args: Mapping[str, Any], directory: Path) -> str:
        if not self.libraries.directories:
            raise Refusal(
                [Finding(Fault.TARGET_NOT_FOUND, "there are no folders of assets", f"/{argument}", NO_LIBRARIES)]
            )
        found = search(
            self.libraries.entries(),
            args[argument],
            kind=args.get("kind"),
            tags=args.get("tags") or (),
            license=args.get("license"),
        )
        told: list[dict[str, Any]] = []
        for number, entry in enumerate(itertools.islice(found, args["limit"])):
            picture = self.libraries.preview(entry)
            if picture is not None:
                (directory / f"{number}.png").write_bytes(picture)
            told.append({**entry.to_json(), "preview": None if picture is None else f"{number}.png"})
        document = {"total": len(found), "libraries": sorted(self.libraries.directories), "found": told}
        (directory / FOUND).write_bytes(orjson.dumps(document))
        return str(directory / FOUND)

    def _fetch(self, argument: str, args: Mapping[str, Any], directory: Path) -> str:
        if self.online is None:
            raise Refusal(
                [Finding(Fault.POLICY_BLOCKED, "no online catalogue is set up", f"/{argument}", NO_CATALOGUE)]
            )
        listed = self.online.assets()
        wanted = args[argument]
        offered = next((each for each in listed if each.id == wanted), None)
        if offered is None:
            cure = did_you_mean(
                wanted, [each.id for each in listed], otherwise=f"The catalogue has {len(listed)} assets."
            )
            message = f"the catalogue has no asset '{wanted}'"
            raise Refusal([Finding(Fault.TARGET_NOT_FOUND, message, f"/{argument}", cure, "outside_scene")])
        self.online.download(offered, directory / "download")
        (directory / FOUND).write_bytes(orjson.dumps({**offered.to_json(), "file_name": offered.file_name}))
        return str(directory / FOUND)


def library_supply(policy: Policy) -> LibrarySupply:
    """The folders of assets that the settings name, and their catalogue. Raises EnvironmentUnfit for what cannot be a folder."""
    directories: dict[str, Path] = {}
    for name, directory in policy.assets.directories.items():
        try:
            directories[name] = without_links(Path(directory).expanduser())
        except (OSError, RuntimeError, ValueError) as error:
            message = f"[assets.directories] names a folder that cannot be, {directory!r}: {error}"
            raise EnvironmentUnfit(message, cure="Correct it in blendwright.toml.") from error
    online = policy.assets.online
    if online.url is None:
        catalogue = None
    else:
        catalogue = HttpCatalogue(online.url, online.max_mb << 20)
    return LibrarySupply(AssetLibraries.of(directories), catalogue)

"""Search results and downloads that the core hands to the asset tools in the worker."""

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
    """The asset libraries of a workspace, and the online catalogue if the settings name one."""

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
        """Write the result of a call into a directory of the worker and return the file's path. Raise Refusal."""
        if role == "search":
            return self._search(argument, args, directory)
        return self._fetch(argument, args, directory)

    def _search(self, argument: str, args: Mapping[str, Any], directory: Path) -> str:
        if not self.libraries.directories:
            message = "blendwright.toml names no asset folders"
            raise Refusal([Finding(Fault.TARGET_NOT_FOUND, message, f"/{argument}", NO_LIBRARIES)])
        matches = search(
            self.libraries.entries(),
            args[argument],
            kind=args.get("kind"),
            tags=args.get("tags") or (),
            license=args.get("license"),
        )

        documents: list[dict[str, Any]] = []
        for number, entry in enumerate(itertools.islice(matches, args["limit"])):
            picture = self.libraries.preview(entry)
            picture_name: str | None = None
            if picture is not None:
                picture_name = f"{number}.png"
                (directory / picture_name).write_bytes(picture)
            documents.append({**entry.to_json(), "preview": picture_name})
        document = {"total": len(matches), "libraries": sorted(self.libraries.directories), "found": documents}
        (directory / FOUND).write_bytes(orjson.dumps(document))
        return str(directory / FOUND)

    def _fetch(self, argument: str, args: Mapping[str, Any], directory: Path) -> str:
        if self.online is None:
            message = "no online catalogue is configured"
            raise Refusal([Finding(Fault.POLICY_BLOCKED, message, f"/{argument}", NO_CATALOGUE)])
        assets = self.online.assets()
        wanted_id = args[argument]
        asset = next((candidate for candidate in assets if candidate.id == wanted_id), None)
        if asset is None:
            fix = did_you_mean(
                wanted_id, [asset.id for asset in assets], otherwise=f"The catalogue has {len(assets)} assets."
            )
            message = f"the catalogue has no asset '{wanted_id}'"
            raise Refusal([Finding(Fault.TARGET_NOT_FOUND, message, f"/{argument}", fix, "outside_scene")])
        self.online.download(asset, directory / "download")
        (directory / FOUND).write_bytes(orjson.dumps({**asset.to_json(), "file_name": asset.file_name}))
        return str(directory / FOUND)


def library_supply(policy: Policy) -> LibrarySupply:
    """Return the asset folders and the catalogue of a policy. Raise EnvironmentUnfit for a folder path that cannot be resolved."""
    directories: dict[str, Path] = {}
    for name, directory in policy.assets.directories.items():
        try:
            directories[name] = without_links(Path(directory).expanduser())
        except (OSError, RuntimeError, ValueError) as error:
            message = f"[assets.directories] names an invalid folder {directory!r}: {error}"
            raise EnvironmentUnfit(message, cure="Correct its path in blendwright.toml.") from error
    online = policy.assets.online
    if online.url is None:
        catalogue = None
    else:
        catalogue = HttpCatalogue(online.url, online.max_mb << 20)
    return LibrarySupply(AssetLibraries.of(directories), catalogue)

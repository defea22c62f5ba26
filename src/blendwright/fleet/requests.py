"""What commands ask of a fleet, without loading anything of it before it is needed: its packages are an extra."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from blendwright.batch.definition_checks import queue_of
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.engines.engine import Engine, LaneSettings
from blendwright.batch.input.prepare import catalogue_of
from blendwright.fleet.address import VARIABLE, Address, import_psycopg, read_address
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.blender_choice import blender_version, chosen_blender
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.settings import load_settings

if TYPE_CHECKING:
    pass

MOST_ATTEMPTS = 10
"""More than on one machine: here machines come and go under cases that are not to blame."""


def machine_queue(directory: Path, blender: str | None) -> str:
    """The queue that this machine can do cases of. Raises EnvironmentUnfit without a Blender."""
    version = blender_version(chosen_blender(directory, blender, load_policy(directory).policy))
    return queue_of(version, catalogue_of(load_settings(directory)))


def use_address(given: str | None) -> Address:
    """The address of the database, also for processes that this one starts: by the environment, which other users cannot read.

    Raises Refusal, or EnvironmentUnfit where the packages are missing."""
    import_psycopg()
    address = read_address(given)
    os.environ[VARIABLE] = address.conninfo
    return address


def check_outputs(place: str) -> str:
    """The place of outputs as every machine finds it: a URL. Raises Refusal."""
    from blendwright.batch.outputs.shared_storage import check_url, is_url

    if is_url(place):
        return check_url(place)
    message = f"'{place}' is a place on this machine, and others write there too"
    cure = "Name it as a URL: s3://bucket/folder, or file:///mnt/share for a directory that every machine has mounted there."
    raise Refusal.of(Fault.ARGS_INVALID, message, cure)


def open_engine(
    given: str | None,
    queue: str,
    *,
    blender: str | None,
    stalled_after: float,
    once: bool,
    note: Callable[[str], None],
) -> Engine:
    """For a worker."""
    address = use_address(given)
    from blendwright.fleet.engine import EngineSettings, PostgresEngine

    settings = EngineSettings(queue, blender=blender, stalled_after=stalled_after, once=once)
    return PostgresEngine(address, settings, note)


@dataclass(frozen=True, slots=True)
class WorkPlace:
    """The local directory of one worker: workspaces of cases that are under way, staging and scratch. Nothing in it is a result."""

    root: Path

    @classmethod
    def at(cls, named: Path | None) -> WorkPlace:
        return cls(named.resolve() if named is not None else _cache() / "blendwright" / "worker")

    def lane_settings(self, approve: Sequence[str], places: Sequence[str]) -> LaneSettings:
        """Without results and outputs, which every job names. `approve` is what this machine allows beforehand: a definition gets what it
        asks for of that. `places` are those that outputs may go to."""
        settings = LaneSettings(
            "", "", str(BatchDirectory(self.root).work), str(self.root), most_attempts=MOST_ATTEMPTS
        )
        return replace(settings, approve=tuple(approve), places=tuple(places))

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Raises EnvironmentUnfit where another worker works there."""
        directory = BatchDirectory(self.root)
        with directory.locked():
            directory.clear_work()
            yield


def _cache() -> Path:
    if root := os.environ.get("XDG_CACHE_HOME"):
        return Path(root)
    try:
        return Path.home() / ".cache"
    except RuntimeError as error:
        raise EnvironmentUnfit("this user has no home directory", cure="Name a directory with --work.") from error

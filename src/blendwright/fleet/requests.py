"""The operations that commands need from a fleet. They import its packages late, because an extra installs them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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

MAX_ATTEMPTS = 10
"""The attempts of one case. More than on one machine, because machines of a fleet stop for reasons that the case did not cause."""


def machine_queue(directory: Path, blender: str | None) -> str:
    """Return the queue whose cases this machine can run. Raise EnvironmentUnfit without a Blender."""
    version = blender_version(chosen_blender(directory, blender, load_policy(directory).policy))
    return queue_of(version, catalogue_of(load_settings(directory)))


def use_address(given: str | None) -> Address:
    """Return the address of the database, and pass it to child processes in the environment, which other users cannot read.

    Raise Refusal for an invalid address, or EnvironmentUnfit if packages are missing."""
    import_psycopg()
    address = read_address(given)
    os.environ[VARIABLE] = address.conninfo
    return address


def check_outputs(place: str) -> str:
    """Return an output location as a URL that every machine can use. Raise Refusal for a local path."""
    from blendwright.batch.outputs.shared_storage import check_url, is_url

    if is_url(place):
        return check_url(place)
    message = f"'{place}' is a path on this machine, but other machines must write there, too"
    fix = "Use a URL: s3://bucket/folder, or file:///mnt/share for a directory that every machine has mounted there."
    raise Refusal.of(Fault.ARGS_INVALID, message, fix)


def open_engine(
    given: str | None,
    queue: str,
    *,
    blender: str | None,
    stalled_after: float,
    once: bool,
    note: Callable[[str], None],
) -> Engine:
    """Return the engine of a worker. `note` receives messages for the user."""
    address = use_address(given)
    from blendwright.fleet.engine import EngineSettings, PostgresEngine

    settings = EngineSettings(queue, blender=blender, stalled_after=stalled_after, once=once)
    return PostgresEngine(address, settings, note)


@dataclass(frozen=True, slots=True)
class WorkDirectory:
    """The local directory of one worker, for workspaces of running cases, staging and scratch files. It contains no results."""

    root: Path

    @classmethod
    def at(cls, named: Path | None) -> WorkDirectory:
        """Return the named directory, or the default one in the user's cache."""
        if named is None:
            return cls(_cache() / "blendwright" / "worker")
        return cls(named.resolve())

    def lane_settings(self, approve: Sequence[str], places: Sequence[str]) -> LaneSettings:
        """Return settings without results and outputs, which every job names.

        `approve` are the grants that this machine allows to batches, and `places` the locations to which outputs may go."""
        settings = LaneSettings("", "", str(BatchDirectory(self.root).work), str(self.root), most_attempts=MAX_ATTEMPTS)
        return replace(settings, approve=tuple(approve), places=tuple(places))

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Hold the lock of the directory and remove leftovers. Raise EnvironmentUnfit if another worker uses it."""
        directory = BatchDirectory(self.root)
        with directory.locked():
            directory.clear_work()
            yield


def _cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME")
    if root:
        return Path(root)
    try:
        return Path.home() / ".cache"
    except RuntimeError as error:
        raise EnvironmentUnfit("this user has no home directory", cure="Pass a directory as --work.") from error

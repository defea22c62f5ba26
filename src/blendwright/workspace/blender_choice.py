"""Selection of the Blender for a workspace, and lookup of its version."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from blendwright.bridge.environments.records import environment_named, environments
from blendwright.bridge.environments.series import own_blender
from blendwright.bridge.sources import worker_source
from blendwright.bridge.sources.named_blender import NamedBlender
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.scene.fingerprint_scheme import blender_of
from blendwright.journal import JournalView
from blendwright.journal.store import FILE as JOURNAL
from blendwright.policy.policy import Policy
from blendwright.values.errors import EnvironmentUnfit, JournalError, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.workspace.locations import user_file
from blendwright.workspace.policy_files import load_policy


def chosen_blender(
    directory: Path, blender: str | Path | WorkerSource | None, policy: Policy | None = None
) -> WorkerSource:
    """Return the source of workers for a workspace. The first of these that exists decides:

    - the `blender` of the caller
    - `[blender]` in the settings of the workspace or the user
    - the Blender that made the scene of the workspace
    - the Blender of this environment

    Raise Refusal when the settings of a workspace name a program instead of an added Blender.
    """
    if blender is not None:
        return worker_source(blender)
    if policy is not None:
        return worker_source(policy.blender.use or _matching_blender(directory))
    loaded = load_policy(directory)
    use, origin = loaded.policy.blender.use, Path(loaded.origins["blender.use"])
    if use is None:
        return worker_source(_matching_blender(directory))
    if NamedBlender.from_text(use) is not None:
        return worker_source(use)
    if origin != user_file():
        # The author of a workspace must not choose which program runs on this machine.
        message = f"{origin}: blender.use: '{use}' is not a Blender that was added"
        fix = "A path is valid only in your own file or with --blender. Or give it a name: blendwright blender add PATH --name NAME"
        raise Refusal([Finding(Fault.SCHEMA_INVALID, message, "/blender/use", fix)])
    path = Path(use).expanduser()
    if not path.is_absolute() and len(path.parts) > 1:
        path = origin.parent / path
    return worker_source(path)


def is_blender_name(text: str) -> bool:
    """Return whether `text` names a Blender by version or by the name it was added with.

    Any other text is a program path.
    """
    return NamedBlender.from_text(text) is not None


def blender_version(source: WorkerSource) -> str:
    """Return the version of a source's Blender.

    Start that Blender only if no record has the version. Raise EnvironmentUnfit.
    """
    environment_version = own_blender()
    name = None
    if isinstance(source, NamedBlender):
        name = source.name
        added = environment_named(name)
        if added is not None:
            return added.blender
    is_this_environment = name is not None or source == PythonEnvironment()
    if is_this_environment and environment_version is not None and environment_version != "unknown":
        return environment_version
    with (
        tempfile.TemporaryDirectory(prefix="blendwright-version-") as scratch,
        source.open_pool(WorkerSettings(Path(scratch).resolve())) as pool,
    ):
        return ".".join(map(str, pool.take().profile.version))


def _matching_blender(directory: Path) -> str | None:
    """Return the name of the added Blender with the version of the workspace's scene.

    Return None to use the Blender of this environment.
    """
    version = workspace_blender(directory)
    environment_version = own_blender()
    if version is None or (environment_version is not None and environment_version.startswith(f"{version}.")):
        return None
    for environment in environments():
        if environment.blender.startswith(f"{version}.") and environment.problem() is None:
            return environment.name
    return None


def workspace_blender(directory: Path) -> str | None:
    """Return the Blender series in the hash of the workspace's HEAD, or None when the workspace has no scene."""
    if not (directory / JOURNAL).is_file():
        return None
    with contextlib.suppress(EnvironmentUnfit, JournalError), contextlib.closing(JournalView(directory)) as journal:
        if journal.head is None:
            return None
        return blender_of(journal.head.hash_after)
    return None

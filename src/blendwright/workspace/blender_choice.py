"""Which Blender runs for a workspace, and what version it is."""

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
    """The one that a caller names, else the one of `[blender]` in the workspace's file or the user's, else the one that the workspace
    belongs to, else that of this environment.

    Raises Refusal where a workspace's file names a program.
    """
    if blender is not None:
        return worker_source(blender)
    if policy is not None:
        return worker_source(policy.blender.use or _belonging(directory))
    loaded = load_policy(directory)
    use, origin = loaded.policy.blender.use, Path(loaded.origins["blender.use"])
    if use is None:
        return worker_source(_belonging(directory))
    if NamedBlender.from_text(use) is not None:
        return worker_source(use)
    if origin != user_file():
        # Whoever made the workspace must not choose which program is run here.
        message = f"{origin}: blender.use: '{use}' is no Blender that was added"
        cure = "A path counts in your own file only, or with --blender; or give it a name: blendwright blender add PATH --name NAME"
        raise Refusal([Finding(Fault.SCHEMA_INVALID, message, "/blender/use", cure)])
    path = Path(use).expanduser()
    return worker_source(path if path.is_absolute() or len(path.parts) == 1 else origin.parent / path)


def is_blender_name(text: str) -> bool:
    """Whether this names a Blender by its version or as it was added: what anybody may say. Anything else is a program."""
    return NamedBlender.from_text(text) is not None


def blender_version(source: WorkerSource) -> str:
    """The version of a source's Blender, which is started only where nothing else tells. Raises EnvironmentUnfit."""
    own, name = own_blender(), source.name if isinstance(source, NamedBlender) else None
    if name is not None and (added := environment_named(name)) is not None:
        return added.blender
    if own is not None and own != "unknown" and (name is not None or source == PythonEnvironment()):
        return own
    with (
        tempfile.TemporaryDirectory(prefix="blendwright-version-") as scratch,
        source.open_pool(WorkerSettings(Path(scratch).resolve())) as pool,
    ):
        return ".".join(map(str, pool.take().profile.version))


def _belonging(directory: Path) -> str | None:
    """The Blender that made the workspace's current scene, where it has been added; None leaves it to that of this environment."""
    version = workspace_blender(directory)
    own = own_blender()
    if version is None or (own is not None and own.startswith(f"{version}.")):
        return None
    fitting = (each for each in environments() if each.blender.startswith(f"{version}.") and each.problem() is None)
    return next((each.name for each in fitting), None)


def workspace_blender(directory: Path) -> str | None:
    """The series of Blender that a workspace belongs to: that of HEAD's hash. None where there is no scene yet."""
    if not (directory / JOURNAL).is_file():
        return None
    with contextlib.suppress(EnvironmentUnfit, JournalError), contextlib.closing(JournalView(directory)) as journal:
        if journal.head is None:
            return None
        return blender_of(journal.head.hash_after)
    return None

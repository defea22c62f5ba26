"""Settings of a workspace, loaded before it is opened: tools, macros, the draft of the contract, and accessible
files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from blendwright.bridge.spawn import WorkerSettings
from blendwright.capabilities import Point
from blendwright.engine.contract import ContractDraft
from blendwright.engine.files.access import FileAccess
from blendwright.engine.files.assets import NO_ASSETS, AssetSupply
from blendwright.engine.files.roots import FileRoots
from blendwright.engine.files.scratch import LARGER_CURE, copy_opened_in, size_problem
from blendwright.journal import JournalView
from blendwright.macros import Macro, load_macros, macro_registry
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Proposal, SessionContract
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.tools.registry import registry_fingerprint
from blendwright.util.no_follow import open_file
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.policy_files import allowed_roots, load_policy
from blendwright.workspace.scratch import unfit_on_os_error

# The registration point of the function that makes the asset supply from the settings. The package `assets` offers it.
ASSET_SUPPLY: Point[Callable[[Policy], AssetSupply]] = Point("asset_supply")


@dataclass(frozen=True)
class WorkspaceSettings:
    """The settings of a workspace. Opening the workspace and previewing a plan use equal settings."""

    directory: Path
    tools: Mapping[str, AnyTool]
    macros: Mapping[str, Macro]
    draft: ContractDraft
    files: FileAccess
    heads_outside: Path | None = None
    head_command: tuple[str, ...] | None = None

    @cached_property
    def registry(self) -> str:
        if self.tools is catalog.tools():
            return catalog.fingerprint()
        return registry_fingerprint(self.tools)

    def at(self, directory: Path) -> WorkspaceSettings:
        """Return the same settings for another workspace and its files, for a caller that opens many workspaces."""
        settings = replace(self, directory=directory, files=_file_access(self.draft, directory, self.files.assets))
        settings.__dict__["registry"] = self.registry
        return settings

    def worker_settings(self, scratch: Path, environment: Mapping[str, str] | None) -> WorkerSettings:
        costs = self.draft.terms.constraints
        return WorkerSettings(
            scratch_root=scratch,
            environment=dict(environment or {}),
            memory_mb=costs.memory_mb,
            scratch_mb=costs.scratch_mb,
        )


def load_settings(
    directory: Path,
    *,
    tools: Mapping[str, AnyTool] | None = None,
    roots: Sequence[str | Path] | None = None,
    policy: Policy | None = None,
    proposal: Proposal | None = None,
    contract: SessionContract | None = None,
) -> WorkspaceSettings:
    """Return the settings of a workspace.

    Raise Refusal when the policy or a macro is invalid, or no contract is possible under them.
    """
    if tools is None:
        registered = catalog.tools()
    else:
        registered = tools
    rules = allowed_roots(policy or load_policy(directory).policy, roots)
    macros = load_macros(directory, registered)
    draft = ContractDraft(
        registered, proposal=proposal, policy=rules, macros=macro_registry(macros.values()), earlier=contract
    )
    files = _file_access(draft, directory, asset_supply(rules))
    return WorkspaceSettings(
        directory, registered, macros, draft, files, heads_directory(rules), rules.journal.audit_heads_command
    )


def _file_access(draft: ContractDraft, directory: Path, assets: AssetSupply) -> FileAccess:
    costs = draft.terms.constraints
    return FileAccess(
        costs.rules.roots, directory / "artifacts", workspace=directory, scratch_mb=costs.scratch_mb, assets=assets
    )


def asset_supply(policy: Policy) -> AssetSupply:
    """Return the asset supply for a policy. Raise EnvironmentUnfit for an asset folder that cannot be used."""
    make = ASSET_SUPPLY.offer()
    if make is None:
        return NO_ASSETS
    return make(policy)


def workspace_roots(directory: Path) -> FileRoots:
    """Return the directories in which calls of a workspace may read and write, according to its settings."""
    policy = load_policy(directory).policy
    return FileRoots(policy.policy.roots, directory, asset_supply(policy).folders)


def heads_directory(policy: Policy) -> Path | None:
    """Return the policy's directory for notes of audit heads outside of workspaces, or None."""
    directory = policy.journal.audit_heads
    if directory is None:
        return None
    return Path(directory).expanduser()


def require_no_scene(journal: JournalView, directory: Path, start: Path) -> None:
    """Raise EnvironmentUnfit if the workspace has a scene already, because it can start from a file only once."""
    if journal.head is not None:
        raise EnvironmentUnfit(
            f"the workspace {directory} has a scene already, which {start.name} would replace",
            cure="Leave the scene out to continue with the existing scene, or name another workspace.",
        )


def copy_start(start: Path, directory: Path, most_mb: int) -> Path:
    """Copy the start file, so that later changes of the original do not affect the workspace. Return the path of the
    copy.

    Raise Refusal for a file that exceeds the scratch limit of a Blender process.
    """
    copy = directory / "opened" / start.name
    with unfit_on_os_error(f"{start} cannot be read", "Check its permissions."), open_file(start.resolve()) as opened:
        too_large = size_problem(opened, most_mb)
        if too_large:
            raise Refusal.of(Fault.LIMIT_EXCEEDED, f"{start} {too_large}", LARGER_CURE)
        copy.parent.mkdir()
        copy_opened_in(opened, copy.parent, copy.name)
    return copy

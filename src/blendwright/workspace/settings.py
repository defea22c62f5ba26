"""What a workspace is used with, read before anything is opened: tools, macros, the draft of the contract, and the files in reach."""

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

# The package `assets` offers a function that makes the supply from the settings.
ASSET_SUPPLY: Point[Callable[[Policy], AssetSupply]] = Point("asset_supply")


@dataclass(frozen=True)
class WorkspaceSettings:
    """Equal for whoever opens the workspace and whoever previews a plan beside it."""

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
        """The same for another workspace, with its own files in reach; for whoever opens many."""
        other = replace(self, directory=directory, files=_files_in_reach(self.draft, directory, self.files.assets))
        other.__dict__["registry"] = self.registry
        return other

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
    """Raises Refusal when the policy or a macro of the workspace is not sound, or there can be no contract under them."""
    if tools is None:
        registered = catalog.tools()
    else:
        registered = tools
    rules = allowed_roots(policy or load_policy(directory).policy, roots)
    macros = load_macros(directory, registered)
    draft = ContractDraft(
        registered, proposal=proposal, policy=rules, macros=macro_registry(macros.values()), earlier=contract
    )
    files = _files_in_reach(draft, directory, asset_supply(rules))
    return WorkspaceSettings(
        directory, registered, macros, draft, files, heads_directory(rules), rules.journal.audit_heads_command
    )


def _files_in_reach(draft: ContractDraft, directory: Path, assets: AssetSupply) -> FileAccess:
    costs = draft.terms.constraints
    return FileAccess(
        costs.rules.roots, directory / "artifacts", workspace=directory, scratch_mb=costs.scratch_mb, assets=assets
    )


def asset_supply(policy: Policy) -> AssetSupply:
    """The assets that the settings name. Raises EnvironmentUnfit for a folder that cannot be used."""
    make = ASSET_SUPPLY.offer()
    if make is None:
        return NO_ASSETS
    return make(policy)


def workspace_roots(directory: Path) -> FileRoots:
    """Where calls in a workspace may read and write, by its settings."""
    policy = load_policy(directory).policy
    return FileRoots(policy.policy.roots, directory, asset_supply(policy).folders)


def heads_directory(policy: Policy) -> Path | None:
    """Where heads of audit chains are noted outside of workspaces, by the policy."""
    named = policy.journal.audit_heads
    if named is None:
        return None
    return Path(named).expanduser()


def require_no_scene(journal: JournalView, directory: Path, start: Path) -> None:
    """A workspace starts from a file once. Raises EnvironmentUnfit."""
    if journal.head is not None:
        raise EnvironmentUnfit(
            f"the workspace {directory} has a scene already, which {start.name} would replace",
            cure="Leave the scene out to go on with what is there, or name another workspace.",
        )


def copy_start(start: Path, directory: Path, most_mb: int) -> Path:
    """A copy of the file to start from: what the workspace begins with must not depend on what becomes of the original. Raises Refusal
    for one that is larger than a Blender process may have."""
    copy = directory / "opened" / start.name
    with unfit_on_os_error(f"{start} cannot be read", "Check its permissions."), open_file(start.resolve()) as opened:
        if too_large := size_problem(opened, most_mb):
            raise Refusal.of(Fault.LIMIT_EXCEEDED, f"{start} {too_large}", LARGER_CURE)
        copy.parent.mkdir()
        copy_opened_in(opened, copy.parent, copy.name)
    return copy

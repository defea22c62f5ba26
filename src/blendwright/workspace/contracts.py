"""Session contracts without a session: proposals and contracts in files, and the contract that a workspace would get."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker_source import WorkerSource
from blendwright.policy.host_profile import HostLimits, HostStatement, stated_sources
from blendwright.policy.policy import Policy
from blendwright.policy.refusals import refusal
from blendwright.policy.session_contract import Proposal, SessionContract, other_version
from blendwright.schemas.check import model_problems
from blendwright.schemas.json_reader import read_json
from blendwright.tool_api.tool import AnyTool
from blendwright.util.json_shapes import fields_of
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of
from blendwright.workspace.blender_choice import chosen_blender
from blendwright.workspace.policy_files import DEFAULT, settings_of
from blendwright.workspace.settings import load_settings

# The settings that a host states in its introduction, in every protocol version.
INTRODUCED_SETTINGS = frozenset({"host.name", "host.version", "host.transport", "host.elicitation"})
Model = TypeVar("Model", bound=BaseModel)


def read_proposal(file: Path) -> Proposal:
    """Return the proposal of a host in a file. Raise Refusal with every finding."""
    return _as_model(_read(file, "a proposal"), Proposal, file, "a proposal")


def read_host_profile(file: Path) -> HostLimits:
    """Return the statements about a host in a file.

    Raise Refusal with every finding; each one names the file and the JSON pointer.
    """
    return _as_model(_read(file, "a host profile"), HostLimits, file, "a host profile")


def read_contract(file: Path | None) -> SessionContract | None:
    """Return a contract in the format of `blendwright contract --json`, or a bare contract.

    Raise Refusal with every finding.
    """
    if file is None:
        return None
    document = _read(file, "a contract")
    fields = fields_of(document)
    version = fields.get("contract_version")
    if not isinstance(version, str) or "fingerprints" not in fields:
        return _as_model(document, SessionContract, file, "a contract")
    # The document is a contract: every problem means that it has another version, or that it was edited.
    if outdated := tuple(other_version(version)):
        raise Refusal(outdated)
    try:
        return _as_model(document, SessionContract, file, "a contract")
    except Refusal as error:
        edited = [refusal("contract_edited", finding.message, finding.pointer) for finding in error.findings]
        raise Refusal(edited) from error


def _read(file: Path, document_kind: str) -> Any:
    try:
        text = file.read_bytes()
    except OSError as error:
        fix = f"Give the path of a file with {document_kind}: see docs/contract.md."
        raise Refusal.of(Fault.SCHEMA_INVALID, f"{file} cannot be read: {error.strerror}", fix) from error
    document, broken = read_json(text)
    if broken:
        raise Refusal([replace(finding, message=f"{file}: {finding.message}") for finding in broken])
    return fields_of(document).get("contract", document)


def _as_model(document: Any, model: type[Model], file: Path, document_kind: str) -> Model:
    try:
        return model.model_validate_json(orjson.dumps(document))
    except ValidationError as error:
        problems = ((pointer_of(loc), message) for loc, message in model_problems(error))
        findings = [
            Finding(Fault.SCHEMA_INVALID, f"{file}: {pointer}: {message}", pointer) for pointer, message in problems
        ]
        raise Refusal(findings, cure=f"The file must contain {document_kind}: see docs/contract.md.") from error


def sources_of(
    contract: Mapping[str, Any],
    statements: Sequence[HostStatement],
    origins: Mapping[str, str],
    *,
    own_roots: bool = False,
) -> dict[str, dict[str, Any]]:
    """Return every settable value of a contract by its dotted name, with its source.

    `origins` has the sources of policy values.
    """
    agreed = dict(settings_of({part: contract[part] for part in ("host", "constraints", "limits", "audit")}))
    stated = stated_sources(statements, agreed)
    values: dict[str, dict[str, Any]] = {}
    for name, value in agreed.items():
        in_policy = name.replace("constraints.rules.", "policy.", 1)
        source: str
        if origins.get(in_policy, DEFAULT) == DEFAULT:
            source = "default"
        else:
            source = "policy"
        if name in INTRODUCED_SETTINGS:
            source = "initialize"
        elif own_roots and in_policy.startswith("policy.roots."):
            source = "flag"
        values[name] = {"value": value, "source": stated.get(name, source)}
    return values


def negotiated(
    workspace: str | Path = ".blendwright",
    *,
    proposal: Proposal | None = None,
    policy: Policy | None = None,
    blender: str | Path | WorkerSource | None = None,
    tools: Mapping[str, AnyTool] | None = None,
) -> SessionContract:
    """Return the contract that a session with these arguments would get; this starts Blender.

    Raise Refusal when no contract is possible, before Blender starts where that is known by then.
    """
    directory = Path(workspace).resolve()
    draft = load_settings(directory, tools=tools, policy=policy, proposal=proposal).draft
    with (
        tempfile.TemporaryDirectory(prefix="blendwright-contract-") as scratch,
        chosen_blender(directory, blender, policy).open_pool(WorkerSettings(Path(scratch).resolve())) as pool,
    ):
        return draft.contract(pool.take().profile)

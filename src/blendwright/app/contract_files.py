"""Proposals of hosts and session contracts that stand in files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import orjson
from pydantic import BaseModel, ValidationError

from blendwright.policy.session_contract import Proposal, SessionContract
from blendwright.schemas.check import model_problems
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of
from blendwright.values.json_reader import read_json

Model = TypeVar("Model", bound=BaseModel)


def read_proposal(file: Path) -> Proposal:
    """A host's proposal. Raises Refusal with every finding."""
    return _read(file, Proposal, "a proposal")


def read_contract(file: Path | None) -> SessionContract | None:
    """A contract as `blendwright contract --json` printed it, or the contract alone. Raises Refusal with every finding."""
    return None if file is None else _read(file, SessionContract, "a contract")


def _read(file: Path, model: type[Model], what: str) -> Model:
    try:
        text = file.read_bytes()
    except OSError as error:
        cure = f"Give the path of a file with {what}: see docs/contract.md."
        raise Refusal.of(Fault.SCHEMA_INVALID, f"{file} cannot be read: {error.strerror}", cure) from error
    document, broken = read_json(text)
    if broken:
        raise Refusal([replace(finding, message=f"{file}: {finding.message}") for finding in broken])
    if isinstance(document, dict) and "contract" in document:
        document = cast("dict[str, Any]", document)["contract"]
    try:
        return model.model_validate_json(orjson.dumps(document))
    except ValidationError as error:
        problems = (f"{file}: {pointer_of(loc)}: {message}" for loc, message in model_problems(error))
        findings = [Finding(Fault.SCHEMA_INVALID, problem) for problem in problems]
        raise Refusal(findings, cure=f"It is not {what}: see docs/contract.md.") from error

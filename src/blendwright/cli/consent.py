"""What a command brings to the policy: the host that the command line is, what is allowed beforehand, and the terminal to ask on."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import orjson
import typer
from pydantic import BaseModel, ValidationError
from rich.text import Text

from blendwright.cli.output import notes
from blendwright.policy.approvals import ApprovalAnswer, ApprovalRequest, Approver
from blendwright.policy.host_profile import HostProfile
from blendwright.policy.session_contract import Proposal, SessionContract
from blendwright.tool_api.effects import Determinism, SafetyLevel, SafetyMode
from blendwright.tools import catalog
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean, pointer_of
from blendwright.values.invisible import escape_invisible
from blendwright.values.json_reader import read_json

Model = TypeVar("Model", bound=BaseModel)

Approve = Annotated[
    list[str] | None,
    typer.Option("--approve", metavar="NAME", help="Allow what is asked about: destructive, a tool, a mode or a root."),
]
Demand = Annotated[
    Determinism | None, typer.Option("--determinism", help="Refuse calls whose results are of a weaker class.")
]
ContractFile = Annotated[
    Path | None, typer.Option("--contract", metavar="FILE", help="Hold to this contract; refused when it is outdated.")
]


def command_line() -> Proposal:
    """What the command line is and asks for: all that the policy grants."""
    host = HostProfile(
        name="blendwright",
        version=version("blendwright"),
        transport="command_line",
        cancellation=True,
        elicitation=at_a_terminal(),
    )
    return Proposal(host=host)


def read_proposal(file: Path) -> Proposal:
    """A host's proposal from a file. Raises Refusal with every finding."""
    return _read(file, Proposal, "a proposal")


def read_contract(file: Path | None) -> SessionContract | None:
    """A contract as `blendwright contract --json` printed it, or the contract alone."""
    return None if file is None else _read(file, SessionContract, "a contract")


def approver(
    approve: Sequence[str] | None, aside: Callable[[], AbstractContextManager[None]] | None = None
) -> Approver:
    """What may be done without asking, and whom to ask otherwise. `aside` makes room on the screen for a question."""
    names = approve or ()
    known = [*SafetyLevel, *SafetyMode, *catalog.tools()]
    for name in names:
        if name not in known and not Path(name).is_dir():
            cure = did_you_mean(name, known, otherwise="Name a safety level, a safety mode, a tool or a directory.")
            raise Refusal([Finding(Fault.SCHEMA_INVALID, f"there is nothing named '{name}' to approve", "", cure)])
    grants = {str(Path(name).resolve()) if name not in known else name for name in names}
    return Approver(Terminal(aside) if at_a_terminal() else None, frozenset(grants))


class Terminal:
    """Asks whoever sits at the terminal."""

    name = "terminal"

    def __init__(self, aside: Callable[[], AbstractContextManager[None]] | None = None) -> None:
        self._aside = aside or contextlib.nullcontext
        self._all: set[str] = set()

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        """y, n, or a for all of the same level in this run; an empty line is a no."""
        if request.safety_level in self._all and not request.in_person:
            return ApprovalAnswer.APPROVED
        with self._aside():
            out = notes()
            out.print(
                Text(f"{escape_invisible(request.operation_id)}: ", style="bold yellow").append(
                    request.what, style="default"
                )
            )
            out.print(Text(f"  asked because of {', '.join(request.why)}", style="dim"))
            if request.shown:
                out.print(Text(request.shown))
            choices = "[y/N]" if request.in_person else f"[y/N/a = all that is {request.safety_level}]"
            out.print(Text(f"Allow it? {choices} "), end="")
            line = line_from_terminal(request.expires, cancel)
        if line is None:
            return ApprovalAnswer.NONE
        said = line.strip().casefold()
        if said in ("a", "all") and not request.in_person:
            self._all.add(request.safety_level)
            return ApprovalAnswer.APPROVED
        return ApprovalAnswer.APPROVED if said in ("y", "yes") else ApprovalAnswer.DECLINED


def line_from_terminal(expires: float, cancel: CancelToken | None) -> str | None:
    """A line from the terminal; None when time is up, or the run was called off meanwhile."""
    waker, wake = os.pipe()

    def stop() -> None:
        os.write(wake, b"!")

    unsubscribe = cancel.subscribe(stop) if cancel is not None else None
    try:
        ready, _, _ = select.select([sys.stdin, waker], [], [], max(0.0, expires - time.time()))
        return sys.stdin.readline() if sys.stdin in ready and waker not in ready else None
    finally:
        if unsubscribe is not None:
            unsubscribe()
        os.close(waker)
        os.close(wake)


def at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _read(file: Path, model: type[Model], what: str) -> Model:
    try:
        text = file.read_bytes()
    except OSError as error:
        cure = f"Give the path of a file with {what}: see docs/contract.md."
        message = f"{file} cannot be read: {error.strerror}"
        raise Refusal([Finding(Fault.SCHEMA_INVALID, message, "", cure)]) from error
    document, broken = read_json(text)
    if broken:
        raise Refusal([replace(finding, message=f"{file}: {finding.message}") for finding in broken])
    if isinstance(document, dict) and "contract" in document:
        document = cast("dict[str, Any]", document)["contract"]
    try:
        return model.model_validate_json(orjson.dumps(document))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        findings = [
            Finding(Fault.SCHEMA_INVALID, f"{file}: {pointer_of(problem['loc'])}: {problem['msg']}")
            for problem in problems
        ]
        raise Refusal(findings, cure=f"It is not {what}: see docs/contract.md.") from error

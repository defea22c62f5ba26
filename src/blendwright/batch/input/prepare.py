"""The preparation of a batch: read the program with its libraries, check its first row, and add the Blender version to its identity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from blendwright.batch.cases.case_runner import case_plan
from blendwright.batch.definition import Batch, BatchSource, Keep, Output
from blendwright.batch.input.tables import Row
from blendwright.dialects import registry
from blendwright.macros import macro_registry
from blendwright.plan.validate import ValidPlan
from blendwright.schemas.json_reader import LARGEST, read_json
from blendwright.util.canonical import digest
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.blender_choice import blender_version, chosen_blender
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.programs import program_surroundings
from blendwright.workspace.settings import WorkspaceSettings, load_settings
from blendwright.workspace.validate import check

PROGRAM_SUFFIX = ".star"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch and all its rows. The first case passed every check that needs no Blender."""

    batch: Batch
    rows: Iterator[Row]


def prepare(
    path: Path,
    rows: Iterable[Row],
    *,
    common: Mapping[str, Any],
    outputs: tuple[Output, ...],
    directory: Path,
    keep: Keep = "drop",
    blender: str | None = None,
    approve: tuple[str, ...] = (),
    case_seconds: float | None = None,
) -> Prepared:
    """Return a batch that is ready to run. Raise Refusal if the first case cannot run.

    `common` are the parameters of every case; a row's parameters override them. `directory` is the batch's directory, whose
    blendwright.toml applies."""
    merged = (({**common, **params}, source) for params, source in rows)
    first = next(merged, None)
    if first is None:
        raise Refusal.of(Fault.ARGS_INVALID, "the table has no rows", "Add at least one row.")
    source = read_source(path, first[0], directory)
    settings = load_settings(directory)
    version = blender_version(chosen_blender(directory, blender, load_policy(directory).policy))
    batch = Batch(source, outputs, catalogue_of(settings), version, keep, blender, approve, case_seconds)
    plan = case_plan(source, first[0], batch.request_id, (*settings.tools, *settings.macros))
    valid = check(plan, directory)
    if not isinstance(valid, ValidPlan):
        raise Refusal(valid)
    return Prepared(batch, chain((first,), merged))


def catalogue_of(settings: WorkspaceSettings) -> str:
    """Return the fingerprint of the tools and macros, which is part of the cases' keys."""
    return digest([settings.registry, macro_registry(settings.macros.values()).fingerprint])


def read_source(path: Path, params: Mapping[str, Any], directory: Path) -> BatchSource:
    """Return the text of a program or plan, with the libraries that it loads. Raise Refusal if it cannot be read or evaluated."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1).decode()
    except OSError as error:
        fix = "Pass the path of a program (.star), a plan or a batch file (.json)."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"cannot read {path}: {error.strerror}", fix) from error
    except UnicodeDecodeError as error:
        message = f"{path} is not UTF-8 text: invalid byte at position {error.start}"
        raise Refusal.of(Fault.SCHEMA_INVALID, message, "Save the file as UTF-8.") from error
    name = path.name.replace(":", "_")[:100]
    if path.suffix != PROGRAM_SUFFIX:
        _, findings = read_json(text)
        if findings:
            raise Refusal(findings)
        if params:
            fix = f"Pass a program, whose file name ends in {PROGRAM_SUFFIX}."
            raise Refusal.of(Fault.ARGS_INVALID, "a plan has no parameters; only programs have", fix)
        return BatchSource(name, text, is_program=False)

    surroundings = program_surroundings(directory, beside=path.resolve().parent)
    plan = registry.parse_plan(
        {"program": text, "params": dict(params), "name": name}, dialect="program", surroundings=surroundings
    )
    if plan.findings:
        raise Refusal(plan.findings)
    assert plan.program is not None
    return BatchSource(name, text, dict(plan.program.libraries))

"""From what a user names to a batch: the program is read with its libraries, tried on the first row, and keyed with its Blender."""

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

PROGRAM_ENDING = ".star"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch whose first case would run as far as can be told without Blender, and all its rows."""

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
    """`common` are the parameters that every case has; those of a row come before them. `directory` is the batch's, whose
    blendwright.toml holds. Raises Refusal where the first case cannot run."""
    merged = (({**common, **params}, source) for params, source in rows)
    first = next(merged, None)
    if first is None:
        raise Refusal.of(Fault.ARGS_INVALID, "there is no case: the table has no rows", "Give one row at least.")
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
    """What tools and macros there are, as it goes into the keys of cases."""
    return digest([settings.registry, macro_registry(settings.macros.values()).fingerprint])


def read_source(path: Path, params: Mapping[str, Any], directory: Path) -> BatchSource:
    """The text of a program or plan, with the libraries that it loads. Raises Refusal."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1).decode()
    except OSError as error:
        cure = "Give the path of a program (.star), a plan or a batch file (.json)."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"cannot read {path}: {error.strerror}", cure) from error
    except UnicodeDecodeError as error:
        raise Refusal.of(
            Fault.SCHEMA_INVALID, f"{path} is not text in UTF-8, at byte {error.start}", "Save it as UTF-8."
        ) from error
    name = path.name.replace(":", "_")[:100]
    if path.suffix != PROGRAM_ENDING:
        _, findings = read_json(text)
        if findings:
            raise Refusal(findings)
        if params:
            cure = f"Name a program, whose name ends in {PROGRAM_ENDING}."
            raise Refusal.of(Fault.ARGS_INVALID, "only programs have parameters, and this is a plan", cure)
        return BatchSource(name, text, is_program=False)
    around = program_surroundings(directory, beside=path.resolve().parent)
    plan = registry.parse_plan(
        {"program": text, "params": dict(params), "name": name}, dialect="program", surroundings=around
    )
    if plan.findings:
        raise Refusal(plan.findings)
    assert plan.program is not None
    return BatchSource(name, text, dict(plan.program.libraries))

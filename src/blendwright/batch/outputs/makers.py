"""The makers of outputs, one for each kind. A maker writes its files for a finished case into the staging directory."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.batch.definition import Output
from blendwright.engine.preview import PICTURE_SAMPLES
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean
from blendwright.values.outcome import Outcome
from blendwright.views.export import PICTURE_SECONDS
from blendwright.workspace import OpenScene, RunOptions

# A function that makes an output of an open scene in the staging directory. It raises Refusal if that fails.
Maker = Callable[[OpenScene, Path, Output, CancelToken | None], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of output: its maker, its default file name, and the allowed suffixes of the name."""

    make: Maker
    name: str
    suffixes: tuple[str, ...]


def make_outputs(
    opened: OpenScene, staging: Path, outputs: Sequence[Output], cancel: CancelToken | None = None
) -> None:
    """Make all outputs in order. Raise Refusal for the first one that fails."""
    for output in outputs:
        KINDS[output.kind].make(opened, staging, output, cancel)


def output_of(kind: str, name: str | None = None, args: Mapping[str, Any] | None = None, pointer: str = "") -> Output:
    """Return an output of a kind, with the default name if `name` is None. Raise Refusal for an unknown kind or an invalid name."""
    output_kind = KINDS.get(kind)
    if output_kind is None:
        fix = did_you_mean(kind, KINDS, otherwise=f"Supported kinds: {', '.join(KINDS)}.")
        raise Refusal([Finding(Fault.ARGS_INVALID, f"unknown kind of output '{kind}'", pointer, fix)])
    file_name = name or output_kind.name
    is_plain = Path(file_name).name == file_name and not file_name.startswith(".")
    if not is_plain or Path(file_name).suffix.lower() not in output_kind.suffixes:
        message = f"'{file_name}' is not a valid file name for an output of kind {kind}"
        fix = f"Use a file name that ends in {' or '.join(output_kind.suffixes)}, without a directory."
        raise Refusal([Finding(Fault.ARGS_INVALID, message, pointer, fix)])
    return Output(kind, file_name, dict(args or {}))


def _export(opened: OpenScene, staging: Path, output: Output, cancel: CancelToken | None) -> None:
    args = {**output.args, "path": str(staging / output.name)}
    _require(opened.outcome("file.export", args, RunOptions(cancel=cancel)), output)


def _picture(opened: OpenScene, staging: Path, output: Output, cancel: CancelToken | None) -> None:
    """Render a picture. Without arguments, use the scene's camera, or a view from the front right above if there is none."""
    options = RunOptions(cancel=cancel, call_seconds=PICTURE_SECONDS)
    args: dict[str, Any] = {**output.args, "artifact": output.name}
    if not output.args:
        args = {"engine": "CYCLES", "samples": PICTURE_SAMPLES, "render_shape": True, "artifact": output.name}
    outcome = opened.outcome("render.preview", args, options)
    if outcome.fault is Fault.SCENE_CONFLICT and not output.args:
        outcome = opened.outcome("render.preview", {"view": "ISO", "artifact": output.name}, options)
    _move(_require(outcome, output).artifacts[0], staging / output.name)


def _still(opened: OpenScene, staging: Path, output: Output, cancel: CancelToken | None) -> None:
    options = RunOptions(cancel=cancel, call_seconds=PICTURE_SECONDS)
    args = {**output.args, "path": str(staging / output.name)}
    _require(opened.outcome("render.still", args, options), output)


def _annotations(opened: OpenScene, staging: Path, output: Output, cancel: CancelToken | None) -> None:
    """Write the artifacts of render.annotations into a folder."""
    options = RunOptions(cancel=cancel, call_seconds=PICTURE_SECONDS)
    outcome = opened.outcome("render.annotations", {**output.args, "artifact": output.name}, options)
    artifacts = _require(outcome, output).artifacts
    (staging / output.name).mkdir()
    for artifact in artifacts:
        _move(artifact, staging / output.name / Path(artifact).name)


def _require(outcome: Outcome, output: Output) -> Outcome:
    if not outcome.ok:
        findings = outcome.findings or (Finding(outcome.fault or Fault.EXECUTION_FAILED, outcome.message),)
        raise Refusal([finding.under(f"/outputs/{output.name}") for finding in findings])
    return outcome


def _move(artifact: str, target: Path) -> None:
    """Move an artifact. Only the owner can read artifacts in a workspace; every reader of the directory can read outputs."""
    shutil.move(artifact, target)
    target.chmod(0o666 & ~_umask())


def _umask() -> int:
    import os

    current = os.umask(0)
    os.umask(current)
    return current


KINDS: dict[str, Kind] = {
    "blend": Kind(_export, "scene.blend", (".blend",)),
    "glb": Kind(_export, "scene.glb", (".glb",)),
    "usd": Kind(_export, "scene.usdc", (".usd", ".usda", ".usdc", ".usdz")),
    "fbx": Kind(_export, "scene.fbx", (".fbx",)),
    "picture": Kind(_picture, "picture.png", (".png",)),
    "still": Kind(_still, "still.png", (".png", ".exr", ".jpg")),
    "annotations": Kind(_annotations, "annotations", ("",)),
}

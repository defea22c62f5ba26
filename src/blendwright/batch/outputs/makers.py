"""What can be made of a case that ran: one maker for each kind of output. A maker leaves its files in the staging directory."""

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

# The scene that was run, where its files go, what is wanted, and who may call it off; raises Refusal where it cannot be made.
Maker = Callable[[OpenScene, Path, Output, CancelToken | None], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of output: what makes it, the name of its file where none is given, and the endings that such a name may have."""

    make: Maker
    name: str
    endings: tuple[str, ...]


def make_outputs(
    opened: OpenScene, staging: Path, outputs: Sequence[Output], cancel: CancelToken | None = None
) -> None:
    """All of them, in order. Raises Refusal for the first that cannot be made."""
    for output in outputs:
        KINDS[output.kind].make(opened, staging, output, cancel)


def output_of(kind: str, name: str | None = None, args: Mapping[str, Any] | None = None, pointer: str = "") -> Output:
    """An output as it was asked for. Raises Refusal."""
    known = KINDS.get(kind)
    if known is None:
        cure = did_you_mean(kind, KINDS, otherwise=f"There are: {', '.join(KINDS)}.")
        raise Refusal([Finding(Fault.ARGS_INVALID, f"'{kind}' is no kind of output", pointer, cure)])
    chosen = name or known.name
    if Path(chosen).name != chosen or chosen.startswith(".") or Path(chosen).suffix.lower() not in known.endings:
        cure = f"Give the name of a file that ends in {' or '.join(known.endings)}, without a directory."
        raise Refusal(
            [Finding(Fault.ARGS_INVALID, f"'{chosen}' is no name for an output of kind {kind}", pointer, cure)]
        )
    return Output(kind, chosen, dict(args or {}))


def _export(opened: OpenScene, staging: Path, output: Output, cancel: CancelToken | None) -> None:
    args = {**output.args, "path": str(staging / output.name)}
    _require(opened.outcome("file.export", args, RunOptions(cancel=cancel)), output)


def _picture(opened: OpenScene, staging: Path, output: Output, cancel: CancelToken | None) -> None:
    """As asked for; where nothing is, through the scene's camera, or from the front right above where it has none."""
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
    """A folder, as render.annotations leaves it."""
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
    """Artifacts that are kept in a workspace are for its owner alone; outputs are for whoever may read the directory."""
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

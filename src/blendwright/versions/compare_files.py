"""Comparison of a .blend file in two Blenders, which shows whether a scene survives another version."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.files.roots import FileRoots
from blendwright.engine.scene.external_files import Externals, findings_about
from blendwright.engine.scene.rebuild import take_worker
from blendwright.policy.policy import Verdict
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.versions.pictures import take_pictures
from blendwright.versions.report import ComparedScene, VersionReport
from blendwright.versions.two_blenders import TwoBlenders
from blendwright.workspace.scratch import unfit_on_os_error

Blender = str | Path | WorkerSource | None
OPENED = "the file opened"


@dataclass(frozen=True, slots=True)
class ComparedFile:
    """The comparison of a file.

    `directory` has the report, or is None if none was requested. `findings` are about external files.
    """

    report: VersionReport
    directory: Path | None
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        if self.directory is None:
            directory = None
        else:
            directory = str(self.directory)
        external = [finding.to_json() for finding in self.findings]
        return {"ok": self.report.same, "directory": directory, "external_files": external, **self.report.to_json()}


def compare_file(file: Path, old: Blender, new: Blender, *, directory: Path | None = None) -> ComparedFile:
    """Open a file in two Blenders and compare the scenes. With a directory, write a report with pictures there. Never
    write the file.

    The Blenders may read external files in the folder of the file and below. Raise Refusal when the file does not
    exist, and RebuildFailed when one of the Blenders cannot open it.
    """
    if not file.is_file():
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no file {file}", "Check the path.")
    if directory is not None:
        with unfit_on_os_error(f"{directory} cannot be created", "Name another directory: --report DIR."):
            directory.mkdir(parents=True, exist_ok=True)
    folder = file.resolve().parent
    externals = Externals(FileRoots({str(folder): Verdict.ALLOW}))
    catalogue = catalog.fingerprint()
    with (
        tempfile.TemporaryDirectory(prefix="blendwright-") as scratch,
        worker_source(old).open_pool(WorkerSettings(Path(scratch, "old"))) as ours,
        worker_source(new).open_pool(WorkerSettings(Path(scratch, "new"))) as theirs,
    ):
        first = take_worker(ours, catalogue)
        external_files = externals.open_file(first, file, file.name, folder).externals
        readable = externals.readable_files(external_files)
        if readable:
            # The readable files of a worker are fixed at its start.
            ours.allow(readable)
            theirs.allow(readable)
            first.abandon()
            first = take_worker(ours, catalogue)
        blenders = TwoBlenders(first, take_worker(theirs, catalogue))
        blenders.both(lambda worker: externals.open_file(worker, file, file.name, folder))
        difference = blenders.compare()
        if directory is None:
            pictures = None
        else:
            pictures = take_pictures(blenders, directory, "scene")
        scene = ComparedScene(OPENED, difference.parts, pictures)
        report = VersionReport(str(file), *blenders.versions, (scene,), difference.notes)
    if directory is not None:
        with unfit_on_os_error(f"the report cannot be written to {directory}", "Name another directory: --report DIR."):
            report.write(directory)
    return ComparedFile(report, directory, findings_about(external_files))

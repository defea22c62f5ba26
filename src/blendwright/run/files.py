"""Files that calls read and write: inside the allowed roots only, copied into the worker's scratch and out of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.contracts.arguments import file_arguments
from blendwright.contracts.policy import Verdict, nearest_root
from blendwright.contracts.refusals import refusal
from blendwright.contracts.tool import AnyTool
from blendwright.values import crash_points
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# Formats whose file names others beside it: they are staged together.
COMPANIONS: dict[str, tuple[str, ...]] = {".obj": (".mtl",), ".gltf": (".bin",)}


@dataclass(frozen=True, slots=True)
class Staged:
    """The files of one call: where the worker finds or leaves each, by the path in the arguments.

    `outputs` are the directories that the worker writes to, with the file that each is for.
    """

    places: Mapping[str, str]
    outputs: Mapping[Path, Path]


class FileAccess:
    """Which files calls may touch, and the copying."""

    def __init__(self, roots: Mapping[str, Verdict], artifacts: Path, *, scratch_mb: int = 4096) -> None:
        """`roots` are directories with what the policy says of them; of several that hold a path, the innermost counts.

        `scratch_mb` is what the scratch of a worker may hold.
        """
        self._scratch_mb = scratch_mb
        self._roots = {_root(root): verdict for root, verdict in roots.items()}
        self._artifacts = artifacts

    @property
    def scratch_mb(self) -> int:
        """What the scratch of a worker may hold."""
        return self._scratch_mb

    @property
    def rules(self) -> Mapping[str, Verdict]:
        """The roots with what the policy says of each."""
        return self._roots

    def rules_for(self, tool: AnyTool, args: Mapping[str, Any]) -> tuple[tuple[str, Verdict], ...]:
        """The roots that the call's files lie in, and what the policy says of each."""
        found: dict[str, Verdict] = {}
        for name in file_arguments(tool.args_model):
            if args[name] is not None:
                root = nearest_root(self._roots, Path(args[name]).expanduser().resolve())
                found |= {} if root is None else dict([root])
        return tuple(found.items())

    def normalised(self, tool: AnyTool, args: dict[str, Any]) -> tuple[dict[str, Any], tuple[Finding, ...]]:
        """Path arguments made absolute, or what speaks against them."""
        findings: list[Finding] = []
        for name, role in file_arguments(tool.args_model).items():
            if args[name] is None:
                continue
            try:
                path = Path(args[name]).expanduser().resolve()
                findings += self._findings(path, role, "/" + name, bool(args.get("overwrite")))
            except (OSError, RuntimeError, ValueError) as error:
                # Too long, a loop of links, a null byte, an unknown user's home: no file can have such a path.
                findings.append(
                    Finding(Fault.ARGS_INVALID, f"not a usable path: {error}", "/" + name, "Check the path.")
                )
                continue
            args = args | {name: str(path)}
        return args, tuple(findings)

    def target_findings(self, path: Path) -> tuple[Finding, ...]:
        """What speaks against writing a file there, replacing one that is there."""
        try:
            return tuple(self._findings(path.expanduser().resolve(), "write", "", overwrite=True))
        except (OSError, RuntimeError, ValueError) as error:
            return (Finding(Fault.ARGS_INVALID, f"not a usable path: {error}", "", "Check the path."),)

    def stage(self, tool: AnyTool, args: Mapping[str, Any], scratch: Path) -> Staged:
        """Copy in what is read, and make room for what is written."""
        places: dict[str, str] = {}
        outputs: dict[Path, Path] = {}
        for name, role in file_arguments(tool.args_model).items():
            if args[name] is None:
                continue
            path = Path(args[name])
            room = scratch / "files" / name
            shutil.rmtree(room, ignore_errors=True)
            room.mkdir(parents=True)
            places[args[name]] = str(room / path.name)
            if role == "read":
                self._copy_in(path, room)
            else:
                outputs[room] = path
        return Staged(places, outputs)

    def deliver(self, staged: Staged) -> list[str]:
        """Bring what the worker wrote to where the arguments said; returns the paths. Raises Refusal where that cannot be.

        Only the file that was named may replace another one: what else was written beside it must find its place free.
        """
        moves: list[tuple[Path, Path]] = []
        for room, target in staged.outputs.items():
            for made in sorted(room.rglob("*")):
                if made.is_symlink() or not made.is_file():
                    continue
                place = target.parent / made.relative_to(room)
                if place != target and place.exists():
                    message = f"{place}, which belongs to it, exists"
                    raise Refusal([Finding(Fault.SCENE_CONFLICT, message, "", "Choose another path.")])
                moves.append((made, place))
        for made, place in moves:
            _move(made, place)
        return [str(place) for _, place in moves]

    def refuse_too_much(self, scratch: Path) -> None:
        """Raises Refusal when a worker has written more than it may."""
        size = sum(entry.lstat().st_size for entry in scratch.rglob("*") if not entry.is_dir())
        if size > self._scratch_mb << 20:
            message = f"Blender has {size >> 20} MB in its scratch directory, and {self._scratch_mb} MB are allowed"
            raise Refusal([refusal("scratch", message)])

    def keep_artifacts(self, names: Sequence[str], scratch: Path) -> list[str]:
        """Bring artifacts to the workspace; an existing name gets a number, since nothing there may be lost."""
        kept: list[str] = []
        for name in names:
            # The worker says the name: nothing but a name is taken from it.
            plain = Path(name).name
            place = self._free(self._artifacts / plain)
            _move(scratch / "artifacts" / plain, place)
            kept.append(str(place))
        return kept

    def _findings(self, path: Path, role: str, at: str, overwrite: bool) -> Iterator[Finding]:
        if not self._allowed(path):
            yield self._forbidden(path, at)
        elif role == "read" and not path.is_file():
            yield Finding(Fault.TARGET_NOT_FOUND, f"there is no file {path}", at, "Check the path.")
        elif role == "write" and path.is_dir():
            yield Finding(Fault.ARGS_INVALID, f"{path} is a directory", at, "Name a file in it.")
        elif role == "write" and path.exists() and not overwrite:
            yield Finding(Fault.SCENE_CONFLICT, f"{path} exists", at, "Choose another path, or set overwrite to true.")
        elif role == "write" and not os.access(_first_existing(path.parent), os.W_OK):
            yield Finding(Fault.POLICY_BLOCKED, f"{path.parent} cannot be written to", at, "Choose another directory.")

    def _allowed(self, path: Path) -> bool:
        root = nearest_root(self._roots, path)
        return root is not None and root[1] is not Verdict.DENY

    def _forbidden(self, path: Path, at: str) -> Finding:
        roots = ", ".join(root for root, verdict in self._roots.items() if verdict is not Verdict.DENY) or "none"
        root = nearest_root(self._roots, path)
        if root is None:
            return refusal("path_outside", f"{path} is outside the allowed roots", at, roots=roots)
        return refusal("path_denied", f"{path} is in {root[0]}, which the policy denies", at, roots=roots)

    def _copy_in(self, path: Path, room: Path) -> None:
        try:
            shutil.copyfile(path, room / path.name)
            for suffix in COMPANIONS.get(path.suffix.lower(), ()):
                beside = path.with_suffix(suffix)
                if beside.is_file() and self._allowed(beside.resolve()):
                    shutil.copyfile(beside, room / beside.name)
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror}"
            raise Refusal([Finding(Fault.TARGET_NOT_FOUND, message, "", "Check the file's permissions.")]) from error

    @staticmethod
    def _free(path: Path) -> Path:
        number, candidate = 1, path
        while candidate.exists():
            number += 1
            candidate = path.with_stem(f"{path.stem}-{number}")
        return candidate


def _move(made: Path, place: Path) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        crash_points.reach("files.before_move")
        shutil.move(made, place)
        crash_points.reach("files.moved")
    except OSError as error:
        message = f"{place} cannot be written: {error.strerror}"
        raise Refusal([Finding(Fault.EXECUTION_FAILED, message, "", "Choose another path.")]) from error


def _first_existing(path: Path) -> Path:
    return path if path.exists() else _first_existing(path.parent)


def _root(named: str) -> str:
    try:
        return str(Path(named).expanduser().resolve())
    except (OSError, RuntimeError, ValueError) as error:
        message = f"the policy names a directory that cannot be, {named!r}: {error}"
        raise EnvironmentUnfit(message, cure="Mend it in blendwright.toml.") from error

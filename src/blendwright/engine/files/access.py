"""Files that calls read and write: inside the allowed roots only, copied into the worker's scratch directory and
out of it.

The policy sets the roots. They never include the workspace's own files.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from blendwright.engine.code.resource_guard import MOST_ENTRIES, UncountableDirectory, entries_below
from blendwright.engine.files.assets import NO_ASSETS, AssetSupply
from blendwright.engine.files.code_directories import code_directory
from blendwright.engine.files.delivery import COMPANIONS, Move, deliver, written_files
from blendwright.engine.files.render_frames import KeptFrames, deliver_frames, frame_path
from blendwright.engine.files.resolved_paths import (
    first_existing,
    resolved,
    resolved_or_none,
    unusable,
)
from blendwright.engine.files.roots import FileRoots
from blendwright.engine.files.scratch import copy_opened_in
from blendwright.engine.files.staging import MOST_PICTURES, gltf_files, is_picture, replaced, staging_directory
from blendwright.policy.policy import Verdict
from blendwright.policy.refusals import refusal
from blendwright.tool_api.arguments import PathArgument, paths_in, supplied_in
from blendwright.tool_api.file_kinds import is_data, plain_name
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.asset.origin import companions
from blendwright.util.no_follow import open_file
from blendwright.values.errors import ProtocolBreach, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

NO_ROOTS = "none; add one to [policy.roots] in blendwright.toml, because the home directory and / are never roots automatically"
# Settings and journal files of any workspace.
SETTINGS = frozenset({"blendwright.toml", "journal.db"})
WRITTEN = frozenset({"write", "frames"})


@dataclass(frozen=True, slots=True)
class Staged:
    """The files of one call. `paths` maps each path in the arguments to the worker's copy.

    `outputs` maps each directory that the worker writes to the target file. With `overwrite`, targets may replace
    existing files.
    """

    paths: Mapping[str, str]
    outputs: Mapping[Path, Path]
    overwrite: bool = False


NO_FILES = Staged({}, {})


class FileAccess:
    """The rules for the files that calls may use, and the copying."""

    def __init__(
        self,
        roots: Mapping[str, Verdict],
        artifacts: Path,
        *,
        workspace: Path | None = None,
        scratch_mb: int = 4096,
        assets: AssetSupply = NO_ASSETS,
    ) -> None:
        """Initialize the access rules.

        `roots` are directories with their verdicts; the innermost root of a path counts. `workspace` is the
        directory with the journal, which no root opens. `scratch_mb` limits the scratch directory of a worker.
        `assets` supplies read-only asset folders.
        """
        self.scratch_mb = scratch_mb
        self.assets = assets
        self._roots = FileRoots(roots, workspace, assets.folders)
        # Resolve an existing link once; links that appear later are not followed.
        self._artifacts = artifacts.resolve()

    @property
    def roots(self) -> FileRoots:
        """The roots with their verdicts, and the workspace that they do not open."""
        return self._roots

    def rules_for(self, tool: AnyTool, args: Mapping[str, Any]) -> tuple[tuple[str, Verdict], ...]:
        """Return the roots of the call's files, with their verdicts. Raises Refusal for an invalid path."""
        rules: dict[str, Verdict] = {}
        for argument in paths_in(tool.args_model, args):
            root = self._roots.rule(resolved(self._actual_path(argument), argument.pointer))
            if root is not None:
                directory, verdict = root
                rules[directory] = verdict
        return tuple(rules.items())

    def hidden_inputs(self, tool: AnyTool, args: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the hidden files and folders that the call reads. A person must approve reading them."""
        hidden_paths: list[str] = []
        for argument in paths_in(tool.args_model, args):
            if argument.role in WRITTEN:
                continue
            path = resolved(self._actual_path(argument), argument.pointer)
            if self._is_hidden(path):
                hidden_paths.append(str(path))
        return tuple(dict.fromkeys(hidden_paths))

    def normalised(self, tool: AnyTool, args: dict[str, Any]) -> tuple[dict[str, Any], tuple[Finding, ...]]:
        """Return the arguments with absolute paths, and the findings against these paths."""
        findings: list[Finding] = []
        seen: set[Path] = set()
        for argument in paths_in(tool.args_model, args):
            at = argument.pointer
            try:
                path = resolved(self._actual_path(argument), at)
                findings += self._findings(path, argument.role, at, bool(args.get("overwrite")))
                if argument.role in WRITTEN and is_data(Path(argument.path)) and not is_data(path):
                    message = f"{argument.path} is a link to {path}, a type of file that programs may execute"
                    cure = f"Pass {path} itself, so that a person can approve it."
                    findings.append(Finding(Fault.POLICY_BLOCKED, message, at, cure))
            except Refusal as refused:
                findings += refused.findings
                continue
            except OSError as error:
                findings.append(unusable(error, at))
                continue
            if path in seen:
                findings.append(Finding(Fault.ARGS_INVALID, f"{path} is given twice", at, "Pass each file once."))
            seen.add(path)
            args = args | {argument.name: replaced(args[argument.name], argument, str(path))}
        return args, tuple(findings)

    def path_findings(self, tool: AnyTool, args: dict[str, Any]) -> tuple[Finding, ...]:
        return self.normalised(tool, args)[1]

    def target_findings(self, path: Path) -> tuple[Finding, ...]:
        """Return the findings against writing a file at this path, possibly over an existing one."""
        try:
            self.judged_target(path)
        except Refusal as refused:
            return refused.findings
        return ()

    def judged_target(self, path: Path) -> Path:
        """Return the path, with links resolved, if a file may be written there, possibly over an existing one.
        Raises Refusal.
        """
        target = resolved(str(path), "")
        try:
            findings = tuple(self._findings(target, "write", "", overwrite=True))
        except OSError as error:
            findings = (unusable(error, ""),)
        if findings:
            raise Refusal(findings)
        return target

    def stage(self, tool: AnyTool, args: Mapping[str, Any], scratch: Path) -> Staged:
        """Copy the input files into the scratch directory, and create directories there for the output files."""
        paths: dict[str, str] = {}
        outputs: dict[Path, Path] = {}
        arguments = paths_in(tool.args_model, args)

        # Files of one argument that may refer to each other.
        together = [argument for argument in arguments if argument.key and argument.role == "read"]
        if together:
            files = [Path(argument.path) for argument in together]
            paths |= self._stage_together(files, scratch, together[0].name)

        for argument in arguments:
            if argument in together or argument.role == "frames":
                continue
            path = Path(argument.path)
            if argument.key:
                directory = staging_directory(scratch, f"{argument.name}_{argument.number}")
            else:
                directory = staging_directory(scratch, argument.name)
            if argument.role == "pictures" or (argument.role == "asset" and path.is_dir()):
                paths[argument.path] = str(directory)
                self._copy_pictures(path, directory, argument.pointer)
                self._copy_companions(path, directory, argument)
                continue
            paths[argument.path] = str(directory / path.name)
            if argument.role == "write":
                outputs[directory] = path
            else:
                self._copy_in(path, directory)
                self._copy_companions(path, directory, argument)

        for name, role in supplied_in(tool.args_model, args):
            paths[role] = self.assets.supply(role, name, args, staging_directory(scratch, role))
            if role == "online":
                origin_file = Path(f"{args['path']}.json")  # the origin of the asset, stored next to it
                directory = staging_directory(scratch, "origin")
                paths["origin"] = str(directory / origin_file.name)
                outputs[directory] = origin_file
        return Staged(paths, outputs, bool(args.get("overwrite")))

    def _actual_path(self, argument: PathArgument) -> str:
        """Return the path of an argument. An asset argument may be the name `library/file`."""
        if argument.role != "asset":
            return argument.path
        asset_path = self.assets.place(argument.path)
        if asset_path is None:
            return argument.path
        return str(asset_path)

    def _copy_companions(self, path: Path, directory: Path, argument: PathArgument) -> None:
        """Copy the files that belong to an asset: the record of its origin, and the files that a .gltf file needs."""
        if argument.role != "asset":
            return
        for companion in companions(path):
            real = resolved_or_none(companion)
            if real is not None and real.is_file() and self._is_companion(real, path) and companion != path:
                self._copy_in(real, directory, name=companion.name)
        if path.suffix.lower() != ".gltf":
            return
        for part in gltf_files(path, argument.pointer):
            real = resolved_or_none(path.parent / part)
            if real is not None and real.is_file() and self._is_companion(real, path):
                self._copy_in(real, directory.joinpath(*part.parent.parts), below=directory, name=part.name)

    def _readable(self, path: Path) -> bool:
        """Return True if calls may read the path: inside the roots, or in an asset folder."""
        return self._allowed(path) or (self.assets.holds(path) and not self._roots.is_own(path))

    def _is_hidden(self, path: Path) -> bool:
        """Return True if a part of the path begins with a dot, below its root or its asset folder."""
        root = self._roots.rule(path)
        if root is not None:
            base = Path(root[0])
        else:
            base = self._roots.asset_folder(path)
        if base is None:
            parts = path.parts
        else:
            parts = path.relative_to(base).parts
        return any(_begins_with_dot(part) for part in parts)

    def _is_companion(self, real: Path, path: Path) -> bool:
        """Return True if a call that reads `path` may also read its companion `real`.

        A companion may be hidden only in the same hidden folder as `path`, because a file such as a .gltf names
        its own companions.
        """
        if not self._readable(real):
            return False
        if real.is_relative_to(path.parent):
            return not any(_begins_with_dot(part) for part in real.relative_to(path.parent).parts)
        return not self._is_hidden(real)

    def _stage_together(self, files: Sequence[Path], scratch: Path, name: str) -> dict[str, str]:
        """Copy the files with their relative positions, because one may refer to another. Their total size counts."""
        top = Path(os.path.commonpath([file.parent for file in files]))
        directory = staging_directory(scratch, f"{name}_in")
        with contextlib.suppress(OSError):  # the copying below reports unreadable files
            self._refuse_size(sum(file.stat().st_size for file in files), "Blender would have")
        for file in files:
            self._copy_in(file, directory.joinpath(*file.relative_to(top).parent.parts), below=directory)
        return {str(file): str(directory / file.relative_to(top)) for file in files}

    def bring_over(self, staged: Staged, scratch: Path) -> Staged:
        """Copy the outputs of one process to the scratch directory of another, which delivers them.

        Raises Refusal for a missing output.
        """
        outputs: dict[Path, Path] = {}
        for number, (directory, target) in enumerate(staged.outputs.items()):
            at = f"/files/out/{number}"
            new_directory = staging_directory(scratch, directory.name)
            try:
                written = written_files(directory, target)
            except Refusal as missing:
                message = f"the code wrote no file for {target}"
                cure = f"Write it to files['{target.name}'], or remove it from files."
                raise Refusal([Finding(Fault.EXECUTION_FAILED, message, at, cure)]) from missing
            for written_file in written:
                try:
                    with open_file(directory / written_file) as opened:
                        self._refuse_size(os.fstat(opened.fileno()).st_size, "The code has")
                        copy_opened_in(opened, scratch, "files", directory.name, *written_file.parts, make=True)
                except OSError as error:
                    message = f"the file that the code wrote for {target} cannot be read: {error.strerror}"
                    raise Refusal([Finding(Fault.EXECUTION_FAILED, message, at, "Write a plain file.")]) from error
            outputs[new_directory] = target
        self.refuse_too_much(scratch)
        return Staged(dict.fromkeys(map(str, outputs.values()), ""), outputs, staged.overwrite)

    def deliver(self, staged: Staged) -> list[str]:
        """Copy the worker's outputs to their targets and return the paths. Raises Refusal when that is not
        possible.

        With `overwrite`, only the target itself may replace a file. The paths of additional files must be free.
        """
        moves: list[Move] = []
        for directory, target in staged.outputs.items():
            scratch = directory.parent.parent
            inside = (directory.parent.name, directory.name)
            for written_file in written_files(directory, target):
                destination = self._destination(written_file, target)
                replaces = staged.overwrite and destination == target
                moves.append(Move(scratch, (*inside, *written_file.parts), destination, replaces))
        deliver(moves)
        return [str(move.destination) for move in moves]

    def kept_frames(self, key: str) -> KeptFrames | None:
        """Return the stored frames of the sequence with this key."""
        return KeptFrames(self._artifacts.with_name("frames"), key)

    def deliver_frames(self, template: str, scratch: Path, numbers: range, overwrite: bool) -> list[str]:
        """Copy frames to the paths of the template. Return the first and the last path. Raises Refusal."""
        path = Path(template)
        self._destination(Path(frame_path(path, 0).name), path)
        return deliver_frames(scratch, path, numbers, overwrite)

    def refuse_too_much(self, scratch: Path) -> None:
        """Raise Refusal when a worker has written more than its limit."""
        try:
            sizes = [info.st_size for info in islice(entries_below(scratch), MOST_ENTRIES + 1)]
            if len(sizes) > MOST_ENTRIES:
                raise UncountableDirectory(f"more than {MOST_ENTRIES} files and directories")
            self._refuse_size(sum(sizes), "Blender has")
        except UncountableDirectory as error:
            raise Refusal([refusal("scratch", f"Blender has in its scratch directory {error}")]) from error

    def _refuse_size(self, size: int, whose: str) -> None:
        if size > self.scratch_mb << 20:
            message = f"{whose} {size >> 20} MB in its scratch directory, and {self.scratch_mb} MB are allowed"
            raise Refusal([refusal("scratch", message)])

    def keep_artifacts(self, names: Sequence[str], scratch: Path) -> list[str]:
        """Move artifacts to the workspace and return their paths. A name that is already in use gets a number.

        The artifacts of one folder arrive together or not at all, and then the folder gets the number.
        """
        paths: list[str] = []
        folders: dict[str, list[str]] = {}
        for name in names:
            # Take only the last part of the worker's name, and the name of its folder, because the worker is not
            # trusted.
            plain = Path(name).name
            if plain in ("", "..") or "\0" in name:
                raise ProtocolBreach("the worker returned an artifact with an impossible file name")
            folder = Path(name).parent.name
            if folder not in ("", ".."):
                folders.setdefault(folder, []).append(plain)
                continue
            target = self._free(self._artifacts / plain)
            deliver([Move(scratch, ("artifacts", plain), target, private=True)])
            paths.append(str(target))
        for folder, inside in folders.items():
            directory = self._free(self._artifacts / folder)
            moves = [Move(scratch, ("artifacts", folder, plain), directory / plain, private=True) for plain in inside]
            deliver(moves)
            paths += (str(move.destination) for move in moves)
        return paths

    def _findings(self, path: Path, role: str, at: str, overwrite: bool) -> Iterator[Finding]:
        if role in WRITTEN:
            is_permitted = self._allowed(path)
        else:
            is_permitted = self._readable(path)
        if not is_permitted:
            yield self._forbidden(path, at)
            return

        if role in WRITTEN:
            setting = self._setting(path)
            if setting is not None:
                message = f"{path} would be written to {setting}, from which programs read their settings"
                yield Finding(Fault.POLICY_BLOCKED, message, at, "Choose a name that does not begin with a dot.")
                return
            finding = self._in_code_directory(path, at)
            if finding is not None:
                yield finding
                return

        if role == "asset" and not (path.is_file() or path.is_dir()):
            yield Finding(
                Fault.TARGET_NOT_FOUND, f"there is no asset {path}", at, "Find it with asset.search.", "outside_scene"
            )
        elif role == "read" and not path.is_file():
            yield Finding(Fault.TARGET_NOT_FOUND, f"there is no file {path}", at, "Check the path.", "outside_scene")
        elif role == "pictures" and not path.is_dir():
            yield Finding(Fault.TARGET_NOT_FOUND, f"there is no folder {path}", at, "Check the path.", "outside_scene")
        elif role == "write" and path.is_dir():
            yield Finding(Fault.ARGS_INVALID, f"{path} is a directory", at, "Pass a file name in this directory.")
        elif role == "write" and path.exists() and not overwrite:
            message = f"{path} already exists"
            yield Finding(Fault.SCENE_CONFLICT, message, at, "Choose another path, or set overwrite to true.")
        elif role in WRITTEN and not os.access(first_existing(path.parent), os.W_OK):
            yield Finding(Fault.POLICY_BLOCKED, f"{path.parent} cannot be written to", at, "Choose another directory.")

    def _setting(self, path: Path) -> str | None:
        """Return the part of the path, below its root, that hosts or workspaces read settings from, or None.

        A call that writes there could decide what is allowed or executed next time.
        """
        root = self._roots.rule(path)
        if root is None:
            parts = path.parts
        else:
            parts = path.relative_to(root[0]).parts
        for part in parts:
            if _begins_with_dot(part) or plain_name(part) in SETTINGS:
                return part
        return None

    def _in_code_directory(self, path: Path, at: str) -> Finding | None:
        """Return a finding if the path lies in an environment, a package or the data of version control, else
        None.
        """
        root = self._roots.rule(path)
        if root is None:
            root_path = None
        else:
            root_path = Path(root[0])
        found_directory = code_directory(path, root_path)
        if found_directory is None:
            return None
        directory, reason = found_directory
        message = f"{path} would be written to {directory}, which {reason}: programs execute files from there"
        return Finding(Fault.POLICY_BLOCKED, message, at, "Choose a directory that is only for files of your project.")

    def _destination(self, written_file: Path, target: Path) -> Path:
        """Return the destination of a written file: inside the roots, and at a free path unless it is the target.
        Raises Refusal.
        """
        destination = target.parent / written_file
        if destination != target and os.path.lexists(destination):
            message = f"{destination}, which belongs to the output, already exists"
            raise Refusal([Finding(Fault.SCENE_CONFLICT, message, "", "Choose another path.")])
        parent = resolved(str(destination.parent), "")
        if not self._allowed(destination) or parent != destination.parent:
            raise Refusal([self._forbidden(parent / destination.name, "")])
        in_code = self._in_code_directory(destination, "")
        if in_code is not None:
            raise Refusal([in_code])
        return destination

    def _allowed(self, path: Path) -> bool:
        return self._roots.allows(path, Verdict.ALLOW, Verdict.ASK)

    def _forbidden(self, path: Path, at: str) -> Finding:
        open_roots = [root for root, verdict in self._roots.roots.items() if verdict is not Verdict.DENY]
        roots = ", ".join(open_roots) or NO_ROOTS
        root = self._roots.rule(path)
        if self._roots.is_own(path):
            workspace = str(self._roots.workspace)
            return refusal("path_workspace", f"{path} belongs to the workspace {workspace}", at, workspace=workspace)
        if root is None:
            return refusal("path_outside", f"{path} is outside the allowed roots", at, roots=roots)
        return refusal("path_denied", f"{path} is in {root[0]}, which the policy denies", at, roots=roots)

    def _copy_in(self, path: Path, directory: Path, below: Path | None = None, name: str | None = None) -> None:
        """Copy a file and its known companions into a directory of the scratch.

        `below` is the existing part of the directory; the rest is created. `name` replaces the name of the copy.
        """
        scratch = (below or directory).parent.parent
        inside = directory.relative_to(scratch).parts
        try:
            with contextlib.ExitStack() as opened:
                sources = {name or path.name: opened.enter_context(open_file(path))}
                for suffix in COMPANIONS.get(path.suffix.lower(), ()):
                    companion = path.with_suffix(suffix)
                    real = resolved_or_none(companion)
                    if real is not None and real.is_file() and self._is_companion(real, path):
                        sources[companion.name] = opened.enter_context(open_file(real))
                # Check the size before copying, so that a large file does not fill the disk.
                sizes = (os.fstat(source.fileno()).st_size for source in sources.values())
                self._refuse_size(sum(sizes), "Blender would have")
                for copy_name, source in sources.items():
                    copy_opened_in(source, scratch, *inside, copy_name, make=below is not None)
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror}"
            cure = "Check the file's permissions."
            raise Refusal([Finding(Fault.TARGET_NOT_FOUND, message, "", cure, "outside_scene")]) from error

    def _copy_pictures(self, folder: Path, directory: Path, at: str) -> None:
        """Copy the pictures of a folder. A link counts as the file that it leads to."""
        try:
            entries = sorted(folder.iterdir())
        except OSError as error:
            raise Refusal([unusable(error, at)]) from error

        pictures: list[tuple[Path, Path]] = []
        for entry in entries:
            real = resolved_or_none(entry)
            if real is not None and is_picture(entry, real) and self._is_companion(real, folder / entry.name):
                pictures.append((entry, real))
        if len(pictures) > MOST_PICTURES:
            message = f"{folder} has {len(pictures)} pictures, but at most {MOST_PICTURES} are allowed"
            cure = "Put the pictures of one material into a folder of their own."
            raise Refusal([Finding(Fault.LIMIT_EXCEEDED, message, at, cure)])
        with contextlib.suppress(OSError):  # the copying below reports unreadable files
            self._refuse_size(sum(real.stat().st_size for _, real in pictures), "Blender would have")
        for entry, real in pictures:
            self._copy_in(real, directory, name=entry.name)

    @staticmethod
    def _free(path: Path) -> Path:
        number = 1
        candidate = path
        while os.path.lexists(candidate):
            number += 1
            candidate = path.with_stem(f"{path.stem}-{number}")
        return candidate


def _begins_with_dot(name: str) -> bool:
    return name.startswith(".") or plain_name(name).startswith(".")

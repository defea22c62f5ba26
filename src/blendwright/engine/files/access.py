"""Files that calls read and write: inside the allowed roots only, copied into the worker's scratch and out of it.

The roots are those of the policy, without what belongs to the workspace itself.
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

NO_ROOTS = "none; name one in [policy.roots] of blendwright.toml, since the home directory and / are not by themselves"
# Files of a workspace, whichever it is.
SETTINGS = frozenset({"blendwright.toml", "journal.db"})
WRITTEN = frozenset({"write", "frames"})


@dataclass(frozen=True, slots=True)
class Staged:
    """The files of one call: where the worker finds or leaves each, by the path in the arguments.
    `outputs` are the directories that the worker writes to, with the file that each is for; `overwrite`: these may replace others.
    """

    paths: Mapping[str, str]
    outputs: Mapping[Path, Path]
    overwrite: bool = False


NO_FILES = Staged({}, {})


class FileAccess:
    """Which files calls may touch, and the copying."""

    def __init__(
        self,
        roots: Mapping[str, Verdict],
        artifacts: Path,
        *,
        workspace: Path | None = None,
        scratch_mb: int = 4096,
        assets: AssetSupply = NO_ASSETS,
    ) -> None:
        """`roots` are directories with what the policy says of them; of several that hold a path, the innermost counts.
        `workspace` is the directory with the journal, which no root opens to calls. `scratch_mb` is what the scratch of a worker
        may hold. `assets` are folders that are read and never written to, and where to get more.
        """
        self.scratch_mb = scratch_mb
        self.assets = assets
        self._roots = FileRoots(roots, workspace, assets.folders)
        # It may lie elsewhere, behind a link; one that is put there from now on is not followed.
        self._artifacts = artifacts.resolve()

    @property
    def roots(self) -> FileRoots:
        """The roots with what the policy says of each, and the workspace that they do not open."""
        return self._roots

    def rules_for(self, tool: AnyTool, args: Mapping[str, Any]) -> tuple[tuple[str, Verdict], ...]:
        """The roots that the call's files lie in, and what the policy says of each. Raises Refusal for what cannot be a path."""
        rules: dict[str, Verdict] = {}
        for each in paths_in(tool.args_model, args):
            root = self._roots.rule(resolved(self._named(each), each.pointer))
            rules |= {} if root is None else dict([root])
        return tuple(rules.items())

    def hidden_inputs(self, tool: AnyTool, args: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the hidden files and folders that the call reads: a person decides whether their content may be seen."""
        inputs = [each for each in paths_in(tool.args_model, args) if each.role not in WRITTEN]
        paths = [resolved(self._named(each), each.pointer) for each in inputs]
        return tuple(dict.fromkeys(str(path) for path in paths if self._is_hidden(path)))

    def normalised(self, tool: AnyTool, args: dict[str, Any]) -> tuple[dict[str, Any], tuple[Finding, ...]]:
        """Path arguments made absolute, or what speaks against them."""
        findings: list[Finding] = []
        seen: set[Path] = set()
        for each in paths_in(tool.args_model, args):
            at = each.pointer
            try:
                path = resolved(self._named(each), at)
                findings += self._findings(path, each.role, at, bool(args.get("overwrite")))
                if each.role in WRITTEN and is_data(Path(each.path)) and not is_data(path):
                    message = f"{each.path} is a link to {path}, a kind of file that programs may execute"
                    findings.append(
                        Finding(Fault.POLICY_BLOCKED, message, at, f"Name {path} itself, and it is asked about.")
                    )
            except Refusal as refused:
                findings += refused.findings
                continue
            except OSError as error:
                findings.append(unusable(error, at))
                continue
            if path in seen:
                findings.append(Finding(Fault.ARGS_INVALID, f"{path} is named twice", at, "Name each file once."))
            seen.add(path)
            args = args | {each.name: replaced(args[each.name], each, str(path))}
        return args, tuple(findings)

    def path_findings(self, tool: AnyTool, args: dict[str, Any]) -> tuple[Finding, ...]:
        return self.normalised(tool, args)[1]

    def target_findings(self, path: Path) -> tuple[Finding, ...]:
        """What speaks against writing a file there, replacing one that is there."""
        try:
            self.judged_target(path)
        except Refusal as refused:
            return refused.findings
        return ()

    def judged_target(self, path: Path) -> Path:
        """Where a file may be written, without links, replacing one that is there. Raises Refusal."""
        target = resolved(str(path), "")
        try:
            findings = tuple(self._findings(target, "write", "", overwrite=True))
        except OSError as error:
            findings = (unusable(error, ""),)
        if findings:
            raise Refusal(findings)
        return target

    def stage(self, tool: AnyTool, args: Mapping[str, Any], scratch: Path) -> Staged:
        """Copy in what is read, and make room for what is written."""
        paths: dict[str, str] = {}
        outputs: dict[Path, Path] = {}
        named = paths_in(tool.args_model, args)
        declared = [each for each in named if each.key and each.role == "read"]
        if declared:
            paths |= self._stage_together([Path(each.path) for each in declared], scratch, declared[0].name)
        for each in named:
            if each in declared or each.role == "frames":
                continue
            path = Path(each.path)
            directory = staging_directory(scratch, f"{each.name}_{each.number}" if each.key else each.name)
            if each.role == "pictures" or (each.role == "asset" and path.is_dir()):
                paths[each.path] = str(directory)
                self._copy_pictures(path, directory, each.pointer)
                self._copy_companions(path, directory, each)
                continue
            paths[each.path] = str(directory / path.name)
            if each.role == "write":
                outputs[directory] = path
            else:
                self._copy_in(path, directory)
                self._copy_companions(path, directory, each)
        for name, role in supplied_in(tool.args_model, args):
            paths[role] = self.assets.supply(role, name, args, staging_directory(scratch, role))
            if role == "online":
                beside = Path(f"{args['path']}.json")  # where it comes from stays beside it
                paths["origin"] = str((directory := staging_directory(scratch, "origin")) / beside.name)
                outputs[directory] = beside
        return Staged(paths, outputs, bool(args.get("overwrite")))

    def _named(self, each: PathArgument) -> str:
        """The path that an argument means: an asset may be named by its library."""
        if each.role == "asset":
            place = self.assets.place(each.path)
        else:
            place = None
        if place is None:
            return each.path
        return str(place)

    def _copy_companions(self, path: Path, directory: Path, each: PathArgument) -> None:
        """What lies beside an asset: where it comes from, and what a .gltf file needs."""
        if each.role != "asset":
            return
        for beside in companions(path):
            real = resolved_or_none(beside)
            if real is not None and real.is_file() and self._is_companion(real, path) and beside != path:
                self._copy_in(real, directory, name=beside.name)
        for part in gltf_files(path, each.pointer) if path.suffix.lower() == ".gltf" else ():
            real = resolved_or_none(path.parent / part)
            if real is not None and real.is_file() and self._is_companion(real, path):
                self._copy_in(real, directory.joinpath(*part.parent.parts), below=directory, name=part.name)

    def _readable(self, path: Path) -> bool:
        """Whether calls may read there: in the roots, and in folders of assets, which nobody writes to."""
        return self._allowed(path) or (self.assets.holds(path) and not self._roots.is_own(path))

    def _is_hidden(self, path: Path) -> bool:
        """Return whether a part of the path begins with a dot, below its root or its folder of assets."""
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
        """Return whether a file that `path` brings along may be read. It may only be hidden where `path` is in the same hidden folder,
        since a file such as a .gltf names its companions itself."""
        if not self._readable(real):
            return False
        if real.is_relative_to(path.parent):
            return not any(_begins_with_dot(part) for part in real.relative_to(path.parent).parts)
        return not self._is_hidden(real)

    def _stage_together(self, files: Sequence[Path], scratch: Path, name: str) -> dict[str, str]:
        """Copies that lie to each other as the files do, since one may name another. Their sizes count together."""
        top = Path(os.path.commonpath([file.parent for file in files]))
        directory = staging_directory(scratch, f"{name}_in")
        with contextlib.suppress(OSError):  # what cannot be read is told below
            self._refuse_size(sum(file.stat().st_size for file in files), "Blender would have")
        for file in files:
            self._copy_in(file, directory.joinpath(*file.relative_to(top).parent.parts), below=directory)
        return {str(file): str(directory / file.relative_to(top)) for file in files}

    def bring_over(self, staged: Staged, scratch: Path) -> Staged:
        """Copy what one process wrote to the scratch of another, from where it is delivered. Raises Refusal for what is not there."""
        outputs: dict[Path, Path] = {}
        for number, (directory, target) in enumerate(staged.outputs.items()):
            at, place = f"/files/out/{number}", staging_directory(scratch, directory.name)
            try:
                written = written_files(directory, target)
            except Refusal as missing:
                message = f"the code wrote no file for {target}"
                cure = f"Write it to files['{target.name}'], or leave it out of files."
                raise Refusal([Finding(Fault.EXECUTION_FAILED, message, at, cure)]) from missing
            for made in written:
                try:
                    with open_file(directory / made) as opened:
                        self._refuse_size(os.fstat(opened.fileno()).st_size, "The code has")
                        copy_opened_in(opened, scratch, "files", directory.name, *made.parts, make=True)
                except OSError as error:
                    message = f"what the code wrote for {target} cannot be read: {error.strerror}"
                    raise Refusal([Finding(Fault.EXECUTION_FAILED, message, at, "Write a plain file.")]) from error
            outputs[place] = target
        self.refuse_too_much(scratch)
        return Staged(dict.fromkeys(map(str, outputs.values()), ""), outputs, staged.overwrite)

    def deliver(self, staged: Staged) -> list[str]:
        """Bring what the worker wrote to where the arguments said; returns the paths. Raises Refusal where that cannot be.

        Only the file that was named may replace another one, where the arguments say so: what else was written beside it must find
        its destination free.
        """
        moves: list[Move] = []
        for directory, target in staged.outputs.items():
            scratch, inside = directory.parent.parent, (directory.parent.name, directory.name)
            for made in written_files(directory, target):
                destination = self._destination(made, target)
                replaces = staged.overwrite and destination == target
                moves.append(Move(scratch, (*inside, *made.parts), destination, replaces))
        deliver(moves)
        return [str(move.destination) for move in moves]

    def kept_frames(self, key: str) -> KeptFrames | None:
        return KeptFrames(self._artifacts.with_name("frames"), key)

    def deliver_frames(self, template: str, scratch: Path, numbers: range, overwrite: bool) -> list[str]:
        """Bring frames to where the arguments said; returns the first and last path. Raises Refusal."""
        path = Path(template)
        self._destination(Path(frame_path(path, 0).name), path)
        return deliver_frames(scratch, path, numbers, overwrite)

    def refuse_too_much(self, scratch: Path) -> None:
        """Raises Refusal when a worker has written more than it may."""
        try:
            found = [info.st_size for info in islice(entries_below(scratch), MOST_ENTRIES + 1)]
            if len(found) > MOST_ENTRIES:
                raise UncountableDirectory(f"more than {MOST_ENTRIES} files and directories")
            self._refuse_size(sum(found), "Blender has")
        except UncountableDirectory as error:
            raise Refusal([refusal("scratch", f"Blender has in its scratch directory {error}")]) from error

    def _refuse_size(self, size: int, whose: str) -> None:
        if size > self.scratch_mb << 20:
            message = f"{whose} {size >> 20} MB in its scratch directory, and {self.scratch_mb} MB are allowed"
            raise Refusal([refusal("scratch", message)])

    def keep_artifacts(self, names: Sequence[str], scratch: Path) -> list[str]:
        """Bring artifacts to the workspace; an existing name gets a number, since nothing there may be lost. Files that the worker names in
        one folder come in one, all or none, and it is the folder that gets the number."""
        paths: list[str] = []
        folders: dict[str, list[str]] = {}
        for name in names:
            # The worker says the name: nothing but a name is taken from it, and that of a folder.
            plain = Path(name).name
            if plain in ("", "..") or "\0" in name:
                raise ProtocolBreach("the worker names an artifact that no file can be")
            folder = Path(name).parent.name
            if folder not in ("", ".."):
                folders.setdefault(folder, []).append(plain)
                continue
            target = self._free(self._artifacts / plain)
            deliver([Move(scratch, ("artifacts", plain), target, private=True)])
            paths.append(str(target))
        for folder, inside in folders.items():
            place = self._free(self._artifacts / folder)
            moves = [Move(scratch, ("artifacts", folder, plain), place / plain, private=True) for plain in inside]
            deliver(moves)
            paths += (str(move.destination) for move in moves)
        return paths

    def _findings(self, path: Path, role: str, at: str, overwrite: bool) -> Iterator[Finding]:
        if not (self._allowed(path) if role in WRITTEN else self._readable(path)):
            yield self._forbidden(path, at)
        elif role == "asset" and not (path.is_file() or path.is_dir()):
            yield Finding(
                Fault.TARGET_NOT_FOUND, f"there is no asset {path}", at, "Find it with asset.search.", "outside_scene"
            )
        elif role in WRITTEN and (setting := self._setting(path)) is not None:
            message = f"{path} would be written to {setting}, which programs read their settings from"
            yield Finding(Fault.POLICY_BLOCKED, message, at, "Choose a name that does not begin with a dot.")
        elif role in WRITTEN and (finding := self._in_code_directory(path, at)) is not None:
            yield finding
        elif role == "read" and not path.is_file():
            yield Finding(Fault.TARGET_NOT_FOUND, f"there is no file {path}", at, "Check the path.", "outside_scene")
        elif role == "pictures" and not path.is_dir():
            yield Finding(Fault.TARGET_NOT_FOUND, f"there is no folder {path}", at, "Check the path.", "outside_scene")
        elif role == "write" and path.is_dir():
            yield Finding(Fault.ARGS_INVALID, f"{path} is a directory", at, "Name a file in it.")
        elif role == "write" and path.exists() and not overwrite:
            yield Finding(Fault.SCENE_CONFLICT, f"{path} exists", at, "Choose another path, or set overwrite to true.")
        elif role in WRITTEN and not os.access(first_existing(path.parent), os.W_OK):
            yield Finding(Fault.POLICY_BLOCKED, f"{path.parent} cannot be written to", at, "Choose another directory.")

    def _setting(self, path: Path) -> str | None:
        """The part of a path, below its root, where hosts and workspaces keep what they are told to do: whoever writes there decides
        what is allowed, or run, the next time."""
        root = self._roots.rule(path)
        if root is None:
            parts = path.parts
        else:
            parts = path.relative_to(root[0]).parts
        return next((part for part in parts if _begins_with_dot(part) or plain_name(part) in SETTINGS), None)

    def _in_code_directory(self, path: Path, at: str) -> Finding | None:
        """Return what speaks against writing to a path that lies in an environment, a package or the data of version control."""
        root = self._roots.rule(path)
        found = code_directory(path, None if root is None else Path(root[0]))
        if found is None:
            return None
        message = f"{path} would be written to {found[0]}, which {found[1]}: programs execute what lies there"
        return Finding(Fault.POLICY_BLOCKED, message, at, "Choose a directory that is only for files of your project.")

    def _destination(self, made: Path, target: Path) -> Path:
        """Where a file that was written goes: inside the roots, and to a free place unless it is the one that was named."""
        destination = target.parent / made
        if destination != target and os.path.lexists(destination):
            message = f"{destination}, which belongs to it, exists"
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
        roots = (
            ", ".join(root for root, verdict in self._roots.roots.items() if verdict is not Verdict.DENY) or NO_ROOTS
        )
        root = self._roots.rule(path)
        if self._roots.is_own(path):
            workspace = str(self._roots.workspace)
            return refusal("path_workspace", f"{path} belongs to the workspace {workspace}", at, workspace=workspace)
        if root is None:
            return refusal("path_outside", f"{path} is outside the allowed roots", at, roots=roots)
        return refusal("path_denied", f"{path} is in {root[0]}, which the policy denies", at, roots=roots)

    def _copy_in(self, path: Path, directory: Path, below: Path | None = None, name: str | None = None) -> None:
        """`below`: what of the directory is there already; it is made as far as it is not. `name`: that of the copy."""
        scratch = (below or directory).parent.parent
        inside = directory.relative_to(scratch).parts
        try:
            with contextlib.ExitStack() as opened:
                sources = {name or path.name: opened.enter_context(open_file(path))}
                for suffix in COMPANIONS.get(path.suffix.lower(), ()):
                    beside = path.with_suffix(suffix)
                    real = resolved_or_none(beside)
                    if real is not None and real.is_file() and self._is_companion(real, path):
                        sources[beside.name] = opened.enter_context(open_file(real))
                # Before anything is copied: a file that is too large would fill the disk first.
                sizes = (os.fstat(source.fileno()).st_size for source in sources.values())
                self._refuse_size(sum(sizes), "Blender would have")
                for each, source in sources.items():
                    copy_opened_in(source, scratch, *inside, each, make=below is not None)
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror}"
            cure = "Check the file's permissions."
            raise Refusal([Finding(Fault.TARGET_NOT_FOUND, message, "", cure, "outside_scene")]) from error

    def _copy_pictures(self, folder: Path, directory: Path, at: str) -> None:
        """Copies of the pictures in a folder. What a link leads to counts as where it leads."""
        try:
            found = [(entry, resolved_or_none(entry)) for entry in sorted(folder.iterdir())]
        except OSError as error:
            raise Refusal([unusable(error, at)]) from error
        pictures = [(entry, real) for entry, real in found if real is not None and is_picture(entry, real)]
        pictures = [(entry, real) for entry, real in pictures if self._is_companion(real, folder / entry.name)]
        if len(pictures) > MOST_PICTURES:
            message = f"{folder} holds {len(pictures)} pictures, and {MOST_PICTURES} are allowed"
            raise Refusal([Finding(Fault.LIMIT_EXCEEDED, message, at, "Put those of one material into a folder.")])
        with contextlib.suppress(OSError):  # what cannot be read is told below
            self._refuse_size(sum(real.stat().st_size for _, real in pictures), "Blender would have")
        for entry, real in pictures:
            self._copy_in(real, directory, name=entry.name)

    @staticmethod
    def _free(path: Path) -> Path:
        number, candidate = 1, path
        while os.path.lexists(candidate):
            number += 1
            candidate = path.with_stem(f"{path.stem}-{number}")
        return candidate


def _begins_with_dot(name: str) -> bool:
    return name.startswith(".") or plain_name(name).startswith(".")

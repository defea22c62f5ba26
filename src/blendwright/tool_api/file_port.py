"""The part of the `Scene` port that deals in files: where they are for the worker, what is in them, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from blendwright.tool_api.datablocks import Block, Kind
from blendwright.wire.file_facts import FileFacts


@dataclass(frozen=True, slots=True)
class Arrival:
    """A datablock that an import brought: its name now, and the name it had in its file."""

    kind: Kind
    name: str
    origin: str


@dataclass(frozen=True, slots=True)
class Carried:
    """Code that a datablock carries: what it is, and where in the datablock."""

    what: str
    kind: str
    name: str
    where: str


class FilePort(Protocol):
    def input_file(self, path: str) -> str:
        """Return the path of the worker's copy of a file that a `ReadPath` argument names."""
        ...

    def output_file(self, path: str) -> str:
        """Return the path to which the worker writes the file that the core delivers to a `WritePath` argument."""
        ...

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds until the step's process is ended, or None without a limit."""
        ...

    def artifact(self, name: str) -> str:
        """Where the worker writes a file that the core will keep among the workspace's artifacts under that name. `folder/name`: in a
        folder of the artifacts, together with the others that a step names so."""
        ...

    def blend_contents(self, path: str) -> Mapping[Kind, Sequence[str]]:
        """The names of what a .blend file at `input_file(...)` holds, by kind."""
        ...

    def import_file(
        self, path: str, form: str, home: Block, contents: Mapping[Kind, Sequence[str]] | None = None
    ) -> Sequence[Arrival]:
        """Bring a file at `input_file(...)` in, its objects into the collection `home`; from a .blend those `contents`.

        `form` is gltf, obj, stl, ply, usd, fbx, alembic or blend. Calls operators, so only for tools that revert by memfile."""
        ...

    def file_facts(self, objects: Sequence[Block]) -> FileFacts:
        """What objects hold that a file of them must hold as well."""
        ...

    def export_file(
        self, path: str, form: str, objects: Sequence[Block] | None, profile: str | None = None
    ) -> Sequence[Carried]:
        """Write objects to `output_file(...)`; None is the whole file and only for blend. The scene stays as it is.

        A .blend file is written without what would run where it is opened: returns what was left out of it."""
        ...

    # ------------------------------------------------------------------ linked files

    def libraries(self) -> Sequence[str]:
        """The paths of the .blend files that something in the scene is linked from."""
        ...

    def linked_objects(self) -> Sequence[Block]:
        """The objects of the scene that stay in other files; no name leads to them."""
        ...

    def linked(self, library: str) -> Sequence[tuple[Kind, str]]:
        """What is linked from a library, and what came along with it, by kind and name."""
        ...

    def link_file(self, path: str, library: str, contents: Mapping[Kind, Sequence[str]]) -> Sequence[Block]:
        """Link datablocks of a .blend file at `input_file(...)`, which stays at `library`; returns those that were asked for.

        They belong to the library: nothing of them can be written."""
        ...

    def make_local(self, library: str) -> Sequence[Arrival]:
        """Make everything that is linked from a library part of the scene, each with the name that it had."""
        ...

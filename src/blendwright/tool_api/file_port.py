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
    """Code that a datablock contains: its sort, and its location in the datablock."""

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
        """Return the path to which the worker writes a file that the core keeps as an artifact of this name.

        `folder/name` puts it into a folder of the artifacts, together with other files of the step.
        """
        ...

    def blend_contents(self, path: str) -> Mapping[Kind, Sequence[str]]:
        """Return the names of the datablocks in a .blend file at `input_file(...)`, by kind."""
        ...

    def import_file(
        self, path: str, form: str, home: Block, contents: Mapping[Kind, Sequence[str]] | None = None
    ) -> Sequence[Arrival]:
        """Import a file at `input_file(...)` and put its objects into the collection `home`. From a .blend file,
        import only `contents`.

        `form` is gltf, obj, stl, ply, usd, fbx, alembic or blend. It calls operators, so only tools that revert by
        memfile may use it.
        """
        ...

    def file_facts(self, objects: Sequence[Block]) -> FileFacts:
        """Return measures of objects that a file of them must have as well."""
        ...

    def export_file(
        self, path: str, form: str, objects: Sequence[Block] | None, profile: str | None = None
    ) -> Sequence[Carried]:
        """Write objects to `output_file(...)`; None exports the complete file and works only for blend. The scene
        does not change.

        A .blend file is written without code that would run on opening. Returns the code that was left out.
        """
        ...

    # ------------------------------------------------------------------ linked files

    def libraries(self) -> Sequence[str]:
        """Return the paths of the .blend files from which the scene links datablocks."""
        ...

    def linked_objects(self) -> Sequence[Block]:
        """Return the objects of the scene that belong to other files. Tools cannot find them by name."""
        ...

    def linked(self, library: str) -> Sequence[tuple[Kind, str]]:
        """Return the datablocks linked from a library, directly or indirectly, by kind and name."""
        ...

    def link_file(self, path: str, library: str, contents: Mapping[Kind, Sequence[str]]) -> Sequence[Block]:
        """Link datablocks of a .blend file at `input_file(...)`, whose permanent path is `library`. Return the
        requested datablocks.

        They belong to the library, so they cannot be written.
        """
        ...

    def make_local(self, library: str) -> Sequence[Arrival]:
        """Make all datablocks that are linked from a library local, each with its name."""
        ...

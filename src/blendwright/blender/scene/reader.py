"""The read-only half of the Scene port: names, did-you-mean suggestions, evaluation, hashes and files."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import bpy
import mathutils

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.state import RESERVED_PREFIX, SceneState
from blendwright.blender.scene.tracking import references
from blendwright.blender.scene.tracking.undo_log import UndoLog
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean
from blendwright.wire.methods import FRAMES_DIRECTORY

# The longest name of a datablock, in bytes of UTF-8.
MAX_NAME_BYTES = 255 if bpy.app.version >= (5, 0, 0) else 63
# The longest name that fits whatever its characters are, since a character takes at most four bytes.
ALWAYS_FITTING_CHARACTERS = MAX_NAME_BYTES // 4

NO_CHOICE = f"{RESERVED_PREFIX}none"


class SceneReader:
    """The questions that a tool may ask about the scene. `undo_log` records what the current step has written so far."""

    def __init__(self, state: SceneState, files: Mapping[str, str], outbox: Path, seconds: float | None = None) -> None:
        self._state = state
        self._files = files
        self._outbox = outbox
        if seconds is None:
            self._ends = None
        else:
            self._ends = monotonic() + seconds
        self._stale = True
        self._active: Any | None = None
        self.undo_log = UndoLog(state)
        self.artifacts: list[str] = []

    # ------------------------------------------------------------------ reading

    @property
    def version(self) -> tuple[int, int, int]:
        return bpy.app.version

    @property
    def active(self) -> Any:
        if self._active is None:
            self._active = bpy.context.scene
        return self._active

    def find(self, kind: Kind, name: str) -> Any | None:
        return self._state.find(kind.blocks, name)

    def require(self, kind: Kind, name: str, at: str = "") -> Any:
        block = self.find(kind, name)
        if block is None:
            raise StepError(self.missing(kind, name, at)[0])
        return block

    def missing(self, kind: Kind, name: str, at: str) -> Sequence[Finding]:
        existing = self._state.named(kind.blocks)
        if name in existing:
            return ()
        if existing:
            alternative = f", or name one of the {len(existing)} existing {kind.blocks}"
        else:
            alternative = ""
        fix = did_you_mean(name, existing, otherwise=f"Create it first{alternative}.")
        return (Finding(Fault.TARGET_NOT_FOUND, f"there is no {kind.label} named '{name}'", at, fix),)

    def name_conflicts(self, kind: Kind, name: str, at: str) -> Sequence[Finding]:
        if name in self._state.named(kind.blocks):
            message = f"there is already {_with_article(kind.label)} named '{name}'"
            fix = "Choose another name, use the existing one, or go back in the history to before it was created."
            return (Finding(Fault.SCENE_CONFLICT, message, at, fix),)
        return self._invalid_name(name, at)

    def names(self, kind: Kind) -> Sequence[str]:
        return sorted(self._state.named(kind.blocks))

    def blocks(self, kind: Kind) -> Iterable[Any]:
        return self._state.blocks(kind)

    def users(self, block: Any) -> Sequence[Any]:
        return self.users_of((block,))[block]

    def users_of(self, blocks: Iterable[Any]) -> Mapping[Any, Sequence[Any]]:
        return references.referrers(set(blocks))

    def collections_of(self, obj: Any) -> Sequence[Any]:
        homes = [scene.collection for scene in self.blocks(Kind.SCENE)]
        homes += self.blocks(Kind.COLLECTION)
        return [home for home in homes if self.undo_log.is_member(fp.member_key(home, obj))]

    def is_in(self, collection: Any, obj: Any) -> bool:
        return self.undo_log.is_member(self._state.collection_key(collection).key_of(obj))

    def kind_of(self, block: Any) -> Kind:
        return Kind(fp.key_of(block)[0])

    def depsgraph(self) -> Any:
        if self._stale:
            bpy.context.view_layer.update()
            self._stale = False
        return bpy.context.evaluated_depsgraph_get()

    def evaluated(self, obj: Any) -> Any:
        return obj.evaluated_get(self.depsgraph())

    @contextmanager
    def evaluated_mesh(self, obj: Any) -> Generator[Any | None]:
        evaluated = self.evaluated(obj)
        try:
            mesh = evaluated.to_mesh()
        except RuntimeError:  # Objects of this type never evaluate to a mesh.
            mesh = None
        try:
            yield mesh
        finally:
            evaluated.to_mesh_clear()

    def choices(self, target: Any, attribute: str) -> Sequence[str]:
        items = [item.identifier for item in target.bl_rna.properties[attribute].enum_items]
        if items != ["NONE"]:
            return items
        # Some properties report their valid values only in the error that Blender raises for an invalid one.
        try:
            setattr(target, attribute, NO_CHOICE)
        except TypeError as error:
            _, _, choices = str(error).partition(" not found in (")
            return choices.removesuffix(")").removeprefix("'").removesuffix("'").split("', '")
        return ()

    def content_hash(self, block: Any) -> str:
        key = fp.key_of(block)
        if self.undo_log.free(key):
            cached = None
        else:
            cached = self._state.leaf_hash(key)
        return (cached or fp.leaf(block)).hex()

    def likeness(self, block: Any) -> str:
        return fp.likeness(block).hex()

    def scene_hash(self) -> str:
        return self._state.root()

    # ------------------------------------------------------------------ making values

    vector: Any = mathutils.Vector
    matrix: Any = mathutils.Matrix
    euler: Any = mathutils.Euler
    quaternion: Any = mathutils.Quaternion

    # ------------------------------------------------------------------ files

    def input_file(self, path: str) -> str:
        return self._files[path]

    output_file = input_file

    @property
    def seconds_left(self) -> float | None:
        if self._ends is None:
            return None
        return max(0.0, self._ends - monotonic())

    def frame_file(self, frame: int) -> str:
        directory = Path(self._files.get(FRAMES_DIRECTORY, self._outbox / "frames"))
        directory.mkdir(exist_ok=True)
        return str(directory / f"{frame:07}.png")

    def artifact(self, name: str) -> str:
        self.artifacts.append(name)
        file = self._outbox / name
        file.parent.mkdir(exist_ok=True)
        return str(file)

    def _invalid_name(self, name: str, at: str) -> Sequence[Finding]:
        if len(name) > ALWAYS_FITTING_CHARACTERS and len(name.encode()) > MAX_NAME_BYTES:
            limit = f"Blender {bpy.app.version_string} keeps at most {MAX_NAME_BYTES}"
            message = f"the name has {len(name.encode())} bytes; {limit}"
            return (Finding(Fault.ARGS_INVALID, message, at, "Shorten the name."),)
        if name.startswith(RESERVED_PREFIX):
            message = f"names that start with '{RESERVED_PREFIX}' are reserved"
            return (Finding(Fault.ARGS_INVALID, message, at, "Choose another name."),)
        return ()


def _with_article(word: str) -> str:
    if word[0] in "aeiou":
        return f"an {word}"
    return f"a {word}"

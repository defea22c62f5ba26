"""Transfer of a headless Blender's changes into the window: created, removed and changed datablocks, and settings of scenes.

The transfer first links everything from the .blend file, since linked datablocks keep their names. Then it makes the new and changed
datablocks local, and replaces the unchanged datablocks that they use by those of the window. The caller compares the full
fingerprint to verify that the window then has the same scene.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import SceneState
from blendwright.blender.scene.code.hidden_drivers import hidden_driver_problem
from blendwright.blender.scene.files.linking import drop_linked, library_paths
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.blender.window.scene_settings import take_over_settings

CREATED, REMOVED = "created", "removed"
# Scenes hold the window's view state. The transfer never replaces their datablocks, and copies their settings instead.
SCENES = "scenes"
# The prefix of the name of a scene's root collection.
MASTER = "scene:"
# The largest number of names in a message.
MAX_LISTED_NAMES = 5

_data: Any = bpy.data


def bring(state: SceneState, path: Path, changes: Sequence[Sequence[str]]) -> str:
    """Apply the changes to the window. Return the reason if that is impossible, and an empty string on success.

    The caller then compares the scene hash, and reverts the window if it differs or the changes are incomplete."""
    blocks = [change for change in changes if change[0] not in (fp.MEMBERSHIP, SCENES)]
    members = [change for change in changes if change[0] == fp.MEMBERSHIP]
    for change in changes:
        problem = _problem(change)
        if problem:
            return problem
    state.hash_deferred()
    state.spacers.remove()

    libraries_before = library_paths()
    new_keys = [(kind, name) for kind, name, action in blocks if action != REMOVED]
    linked = _linked(path, new_keys)
    # Before anything is evaluated: with Blender's auto-run preference on, a hidden driver would run Python in the window.
    problem = hidden_driver_problem((kind, block) for kind, block in fp.all_blocks() if block.library is not None)
    if problem:
        drop_linked(lambda key: True, libraries_before)
        return problem
    missing = [name for (_, name), block in linked.items() if block is None]
    if missing:
        return f"the file has no {_listed(missing)}"

    replaced: list[Any] = []
    fake_users: set[tuple[str, str]] = set()
    for kind, name, action in blocks:
        if action == CREATED:
            continue
        old = state.find(kind, name)
        if old is None:
            return f"the window has no '{name}' among its {kind}"
        if old.use_fake_user:
            fake_users.add((kind, name))
        state.soft_delete(kind, old)
        replaced.append((kind, name, old, action))

    _make_local(list(linked.values()))
    still_linked = [name for kind, name in linked if _local(kind, name) is None]
    if still_linked:
        return f"{_listed(still_linked)} cannot be made local in the window"
    for kind, name, old, action in replaced:
        if action != REMOVED:
            old.user_remap(_local(kind, name))
    _use_local_blocks(path)
    state.forget_names()

    for _, home, member, action in members:
        problem = _move(home, member, action)
        if problem:
            return problem
    take_over_settings(path, [change[1] for change in changes if change[0] == SCENES])
    state.purge()
    drop_linked(lambda key: True, libraries_before)
    _restore_fake_users(new_keys, fake_users)
    bpy.context.view_layer.update()
    state.refresh()
    return ""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_LISTED_NAMES])


def _problem(change: Sequence[str]) -> str:
    """Return why the window cannot apply a change; an empty string if it can."""
    kind, *names, action = change
    if kind == SCENES and action in (CREATED, REMOVED):
        return f"the scene '{names[0]}' would be {action}"
    if kind == fp.MEMBERSHIP:
        local_length = 2
    else:
        local_length = 1
    # The key of a linked datablock also names its library.
    if len(names) != local_length:
        return f"'{names[0]}' is linked from another file"
    return ""


def _linked(path: Path, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Any]:
    """Link datablocks from the file and return them by kind and name; None stands for a name that the file lacks."""
    names_by_kind: dict[str, list[str]] = {}
    for kind, name in keys:
        names_by_kind.setdefault(kind, []).append(name)
    if not names_by_kind:
        return {}

    loading: Any = _data.libraries.load(str(path), link=True)
    with loading as (_, target):
        for kind, names in names_by_kind.items():
            setattr(target, kind, list(names))

    blocks: dict[tuple[str, str], Any] = {}
    for kind, names in names_by_kind.items():
        for name, block in zip(names, getattr(target, kind), strict=True):
            blocks[kind, name] = block
    return blocks


def _make_local(linked: list[Any]) -> None:
    """Make linked datablocks local, users before the datablocks that they use.

    A datablock that only linked ones use stays linked. For datablocks that use each other, a temporary node group uses each in turn."""
    while linked:
        still_linked: list[Any] = []
        for block in linked:
            if block.make_local().library is not None and block.library is not None:
                still_linked.append(block)
        if len(still_linked) == len(linked):
            break
        linked = still_linked

    if linked:
        holder: Any = _data.node_groups.new(f"{RESERVED_PREFIX}holder", "ShaderNodeTree")
        for block in linked:
            holder["held"] = block
            block.make_local()
        _data.node_groups.remove(holder)


def _restore_fake_users(keys: Iterable[tuple[str, str]], fake_users: set[tuple[str, str]]) -> None:
    """Set the fake users, which linking loses: on replaced datablocks that had one, and on datablocks without other users.

    The latter had a fake user in the file, since Blender would not have saved them otherwise."""
    for kind, name in keys:
        block = _local(kind, name)
        if (kind, name) in fake_users or not block.users:
            block.use_fake_user = True


def _local(kind: str, name: str) -> Any:
    return getattr(_data, kind).get((name, None))


def _use_local_blocks(path: Path) -> None:
    """Replace unchanged datablocks, which Blender linked only because a new one uses them, by the window's own datablocks."""
    for kind, block in list(fp.all_blocks()):
        library = block.library
        if library is None or Path(bpy.path.abspath(library.filepath)) != path:
            continue
        local = _local(kind, block.name)
        if local is not None:
            block.user_remap(local)


def _move(home: str, member: str, action: str) -> str:
    """Link an object to a collection, or unlink it. Return the reason if that is impossible, and an empty string on success."""
    if home.startswith(MASTER):
        scene = _data.scenes.get(home.removeprefix(MASTER))
        collection = getattr(scene, "collection", None)
    else:
        collection = _local("collections", home)
    if collection is None:
        return f"there is no collection '{home}'"

    obj = _local("objects", member)
    is_member = obj is not None and any(candidate == obj for candidate in collection.objects)
    if action == REMOVED:
        if is_member:
            collection.objects.unlink(obj)
        return ""
    if obj is None:
        return f"there is no object '{member}'"
    if not is_member:
        collection.objects.link(obj)
    return ""

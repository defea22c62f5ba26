"""Takes over into the window what a headless Blender made: datablocks of a .blend file that came, went or changed, and settings of its
scenes; nothing else.

Everything is linked first, since linked datablocks keep their names; then what is new or changed is made local, and what it uses of
the unchanged rest becomes the window's own. Whether the window has come to the same scene the full fingerprint says.
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
# Their datablocks hold the window's own view of things, and are never replaced: their settings are taken over.
SCENES = "scenes"
MASTER = "scene:"

_data: Any = bpy.data


def bring(state: SceneState, path: Path, changes: Sequence[Sequence[str]]) -> str:
    """Make the changes in the window; returns why that cannot be done, empty where it was. The caller compares the hash, and takes back
    what is half done."""
    blocks = [change for change in changes if change[0] not in (fp.MEMBERSHIP, SCENES)]
    members = [change for change in changes if change[0] == fp.MEMBERSHIP]
    problems = [problem for change in changes if (problem := _problem(change))]
    if problems:
        return problems[0]
    state.hash_deferred()
    state.spacers.remove()
    before = library_paths()
    wanted = [(kind, name) for kind, name, what in blocks if what != REMOVED]
    linked = _linked(path, wanted)
    # Before anything is evaluated: with Blender's auto-run preference on, a hidden driver would run Python in the window.
    if problem := hidden_driver_problem((kind, block) for kind, block in fp.all_blocks() if block.library is not None):
        drop_linked(lambda key: True, before)
        return problem
    missing = [name for (_, name), block in linked.items() if block is None]
    if missing:
        return f"the file has no {', '.join(missing[:5])}"
    replaced: list[Any] = []
    kept: set[tuple[str, str]] = set()
    for kind, name, what in blocks:
        if what == CREATED:
            continue
        old = state.find(kind, name)
        if old is None:
            return f"the window has no '{name}' among its {kind}"
        if old.use_fake_user:
            kept.add((kind, name))
        state.soft_delete(kind, old)
        replaced.append((kind, name, old, what))
    _make_local(list(linked.values()))
    stubborn = [name for kind, name in linked if _local(kind, name) is None]
    if stubborn:
        return f"{', '.join(stubborn[:5])} cannot be made the window's own"
    for kind, name, old, what in replaced:
        if what != REMOVED:
            old.user_remap(_local(kind, name))
    _use_own(path)
    state.forget_names()
    for _, home, member, what in members:
        if problem := _move(home, member, what):
            return problem
    take_over_settings(path, [change[1] for change in changes if change[0] == SCENES])
    state.purge()
    drop_linked(lambda key: True, before)
    _keep(wanted, kept)
    bpy.context.view_layer.update()
    state.refresh()
    return ""


def _problem(change: Sequence[str]) -> str:
    kind, *rest, what = change
    if kind == SCENES and what in (CREATED, REMOVED):
        return f"the scene '{rest[0]}' would be {what}"
    if kind == fp.MEMBERSHIP:
        expected = 2
    else:
        expected = 1
    if len(rest) == expected:
        return ""
    return f"'{rest[0]}' is linked from another file"


def _linked(path: Path, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Any]:
    names: dict[str, list[str]] = {}
    for kind, name in wanted:
        names.setdefault(kind, []).append(name)
    if not names:
        return {}
    loading: Any = _data.libraries.load(str(path), link=True)
    with loading as (_, chosen):
        for kind, listed in names.items():
            setattr(chosen, kind, list(listed))
    return {
        (kind, name): block
        for kind, listed in names.items()
        for name, block in zip(listed, getattr(chosen, kind), strict=True)
    }


def _make_local(linked: list[Any]) -> None:
    """Users first: what only linked datablocks use stays linked. Where they use one another, each is held while it is its turn."""
    while linked:
        still = [block for block in linked if block.make_local().library is not None and block.library is not None]
        if len(still) == len(linked):
            break
        linked = still
    if linked:
        holder: Any = _data.node_groups.new(f"{RESERVED_PREFIX}holder", "ShaderNodeTree")
        for block in linked:
            holder["held"] = block
            block.make_local()
        _data.node_groups.remove(holder)


def _keep(brought: Iterable[tuple[str, str]], kept: set[tuple[str, str]]) -> None:
    """A link forgets who has a fake user. What nothing uses has one, or it would not be in the file."""
    for kind, name in brought:
        block = _local(kind, name)
        if (kind, name) in kept or not block.users:
            block.use_fake_user = True


def _local(kind: str, name: str) -> Any:
    return getattr(_data, kind).get((name, None))


def _use_own(path: Path) -> None:
    """What came along because something new uses it is the unchanged rest, which the window has."""
    for kind, block in list(fp.all_blocks()):
        library = block.library
        if library is None or Path(bpy.path.abspath(library.filepath)) != path:
            continue
        own = _local(kind, block.name)
        if own is not None:
            block.user_remap(own)


def _move(home: str, member: str, what: str) -> str:
    if home.startswith(MASTER):
        collection = _data.scenes.get(home.removeprefix(MASTER))
    else:
        collection = _local("collections", home)
    if collection is not None and home.startswith(MASTER):
        collection = collection.collection
    if collection is None:
        return f"there is no collection '{home}'"
    obj = _local("objects", member)
    there = obj is not None and any(one == obj for one in collection.objects)
    if what == REMOVED:
        if there:
            collection.objects.unlink(obj)
        return ""
    if obj is None:
        return f"there is no object '{member}'"
    if not there:
        collection.objects.link(obj)
    return ""

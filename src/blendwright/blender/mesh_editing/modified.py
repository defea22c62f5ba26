"""What one modifier would make of an object's mesh, without the object keeping it."""

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from blendwright.blender.scene.state import RESERVED_PREFIX

TEMPORARY = f"{RESERVED_PREFIX}modifier"
# The evaluated dependency graph, brought up to date.
Evaluate = Callable[[], Any]


@contextmanager
def modified(obj: Any, kind: str, settings: Mapping[str, Any], evaluate: Evaluate) -> Generator[Any]:
    """The mesh that a modifier alone makes of the mesh of an object, there until the scene is evaluated again."""
    with ExitStack() as undo:
        for other in obj.modifiers:
            undo.callback(setattr, other, "show_viewport", other.show_viewport)
            other.show_viewport = False
        modifier = obj.modifiers.new(TEMPORARY, kind)
        undo.callback(lambda: obj.modifiers.remove(obj.modifiers[modifier.name]))
        for name, value in settings.items():
            setattr(modifier, name, value)
        yield obj.evaluated_get(evaluate()).data

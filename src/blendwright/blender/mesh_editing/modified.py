"""The result of one modifier on an object's mesh, without adding the modifier permanently."""

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from blendwright.blender.scene.state import RESERVED_PREFIX

TEMPORARY = f"{RESERVED_PREFIX}modifier"
# A function that returns the updated dependency graph.
Evaluate = Callable[[], Any]


@contextmanager
def modified(obj: Any, kind: str, settings: Mapping[str, Any], evaluate: Evaluate) -> Generator[Any]:
    """Yield the mesh that a modifier alone makes of an object's mesh. It is valid until the scene is evaluated again."""
    with ExitStack() as undo:
        for existing in obj.modifiers:
            undo.callback(setattr, existing, "show_viewport", existing.show_viewport)
            existing.show_viewport = False

        modifier = obj.modifiers.new(TEMPORARY, kind)
        undo.callback(lambda: obj.modifiers.remove(obj.modifiers[modifier.name]))
        for name, value in settings.items():
            setattr(modifier, name, value)
        yield obj.evaluated_get(evaluate()).data

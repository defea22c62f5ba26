# Blender ships no types: everything of it is Any, and only blender/ sees it.
from typing import Any

def __getattr__(name: str) -> Any: ...

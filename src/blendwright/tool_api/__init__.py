"""The interface for tool authors: the Tool base, promises, building blocks of arguments, and the Scene port.

The names that nearly every tool needs are exported here. Import all others from their modules.
"""

from blendwright.tool_api.arguments import Args, Name, Result
from blendwright.tool_api.scene import Block, Kind, Point, Scene
from blendwright.tool_api.tool import Example, Findings, Tool

__all__ = ["Args", "Block", "Example", "Findings", "Kind", "Name", "Point", "Result", "Scene", "Tool"]

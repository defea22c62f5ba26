"""What a tool author sees: the Tool base, the words of its promises, building blocks of arguments, and the Scene port.

The words that nearly every tool needs can be had from here; all others from the module that they are in.
"""

from blendwright.tool_api.arguments import Args, Name, Result
from blendwright.tool_api.scene import Block, Kind, Point, Scene
from blendwright.tool_api.tool import Example, Findings, Tool

__all__ = ["Args", "Block", "Example", "Findings", "Kind", "Name", "Point", "Result", "Scene", "Tool"]

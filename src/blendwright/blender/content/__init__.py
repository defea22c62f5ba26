"""The content of a scene as named values, for comparing what two Blenders make of it, where hashes cannot be compared."""

from blendwright.blender.content.listing import write_content

__all__ = ["write_content"]

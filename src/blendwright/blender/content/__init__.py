"""The content of a scene as named values. It serves to compare scenes between two Blenders, whose hashes are not comparable."""

from blendwright.blender.content.listing import write_content

__all__ = ["write_content"]

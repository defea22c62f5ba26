"""The process with Blender in it: how it starts, confines itself and answers requests."""

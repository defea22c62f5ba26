"""The protocol between the core and a worker: frames, steps, the shape of answers, and the ports to Blender
processes.
"""

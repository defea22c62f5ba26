"""What the core and a worker say to each other: frames, steps, the shape of answers, and the ports to Blender processes."""

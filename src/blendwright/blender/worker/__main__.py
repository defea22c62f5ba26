"""`python -m blendwright.blender.worker`: a worker on the bpy wheel of this environment."""

import sys

from blendwright.blender.worker.entry import main

main(sys.argv[1:])

"""The file that a Blender executable is given by `--python`: makes our packages importable and runs the worker.

Blender brings its own Python, which knows nothing of ours: until the import roots are added, only the standard library is there.
"""

import itertools
import sys

arguments = sys.argv[sys.argv.index("--") + 1 :]
for flag, value in itertools.pairwise(arguments):
    if flag == "--import-root":
        # At the end: what Blender ships itself (numpy above all) must win over what our environment has.
        sys.path.append(value)

from blendwright.blender.worker.entry import main  # noqa: E402 - cannot be found any earlier

main(arguments)

"""`python -m blendwright` is the program `blendwright`."""

import sys

# With -m the first entry is the working directory, where anything may lie. It is left out before anything else is imported from
# there. Only `python -P -m blendwright` also keeps a package of our own name there from being found.
if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]

from blendwright.entry import main

if __name__ == "__main__":
    main()

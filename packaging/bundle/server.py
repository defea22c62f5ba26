"""The server of the bundle. A host that gives no arguments gets a server on stdio."""

import sys

from blendwright.entry import main

if __name__ == "__main__":
    sys.argv[1:] = sys.argv[1:] or ["serve"]
    main()

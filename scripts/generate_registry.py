"""Record the hashes of all declarations beside the tools. With --check: fail when the recording is not current."""

from __future__ import annotations

import json
import sys

from blendwright.tools.catalog import CATALOG
from blendwright.tools.registry import RECORDED, computed, sources


def main() -> int:
    listed = {tool.name: computed(tool) for tool in sorted(CATALOG, key=lambda tool: tool.name)}
    text = json.dumps({"sources": sources(), "tools": listed}, indent=1) + "\n"
    if "--check" not in sys.argv:
        RECORDED.write_text(text)
        return 0
    if RECORDED.is_file() and RECORDED.read_text() == text:
        return 0
    print(f"{RECORDED.name} is not current: run `make generate`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

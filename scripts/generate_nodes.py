"""Write the catalogues of nodes of the installed Blender to src/blendwright/nodes/catalogue, one for each kind of tree.

python scripts/generate_nodes.py           writes those that are not current
python scripts/generate_nodes.py --check   writes nothing; exit 1 when one is not current
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from node_survey.scratch import TREES
from node_survey.survey import survey

CATALOGUES = Path(__file__).parent.parent / "src" / "blendwright" / "nodes" / "catalogue"


def text_of(catalogue: dict[str, Any]) -> str:
    """JSON with a node on each line: compact, and a difference between two can still be read."""
    head = [f"{_compact(name)}:{_compact(part)}" for name, part in catalogue.items() if name != "nodes"]
    nodes = [f"{_compact(name)}:{_compact(node)}" for name, node in sorted(catalogue["nodes"].items())]
    return "{" + ",\n".join(head) + ',\n"nodes":{\n' + ",\n".join(nodes) + "\n}}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether they are current")
    check = bool(parser.parse_args().check)
    return max([_current(kind, check) for kind in TREES])


def _current(kind: str, check: bool) -> int:
    catalogue = survey(kind)
    prefix = "" if kind == "geometry" else f"{kind}-"
    path = CATALOGUES / f"{prefix}{catalogue['blender']}.json"
    text = text_of(catalogue)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return 0
    if check:
        print(f"{path.name} is not what this Blender says. Run: python scripts/generate_nodes.py")
        return 1
    path.write_text(text, encoding="utf-8")
    print(f"{path.name} written: {len(catalogue['nodes'])} nodes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

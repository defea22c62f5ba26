"""Write docs/reference/refusals.md from the table of refusals and the matrix that the tests walk. --check says whether it is current.

PYTHONPATH=tests python scripts/generate_refusals.py
PYTHONPATH=tests python scripts/generate_refusals.py --check
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from blendwright.policy.refusals import RULES
from blendwright.values.faults import RENDERINGS
from support.suite.refusal_matrix import BLENDERS, DEMANDS, HOSTS, Demand

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "refusals.md"
ABOUT = """\
# Refusals

<!-- made by scripts/generate_refusals.py; do not edit -->

Everything for which a session, a plan or a call is turned away before anything happens. A refusal has no side effect on the scene or on
files. Its finding has the fault as `code` and, more finely, the `rule`; both stay as they are. The tests walk every cell of the
matrix below.

See [policy](../policy.md) for what can be allowed, and [contract](../contract.md) for what a session is held to.

## Rules

| rule | refused when | code | ToolResult | core envelope | cure |
|---|---|---|---|---|---|
"""

MATRIX = """\
## Matrix

What a call demands, met by a host under its policy, on a Blender. A cell is refused for every rule that its host or its Blender has in
the row of the demand; a person is asked where nothing refuses and the last column names the host.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether it is current")
    check = bool(parser.parse_args().check)
    text = "\n".join(_page()) + "\n"
    if PAGE.is_file() and PAGE.read_text("utf-8") == text:
        return 0
    if check:
        print(f"{PAGE.relative_to(ROOT)} is not current. Run: make generate")
        return 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, "utf-8")
    print(f"{PAGE.relative_to(ROOT)} written")
    return 0


def _page() -> Iterator[str]:
    yield ABOUT.rstrip()
    for name, rule in RULES.items():
        codes = RENDERINGS[rule.fault]
        cure = rule.cure.replace("{or_option}", "").replace("{near}", "Did you mean … ?")
        yield f"| `{name}` | {rule.when} | `{rule.fault}` | `{codes.tool_result}` | `{codes.core}` | {cure} |"
    yield ""
    yield MATRIX
    yield f"Hosts: {', '.join(HOSTS)}."
    yield ""
    yield f"Blenders: {', '.join(BLENDERS)}."
    yield ""
    yield "| the call demands | refused by | asked by |"
    yield "|---|---|---|"
    for name, demand in DEMANDS.items():
        yield f"| {name} | {'<br>'.join(_refused(demand))} | {_sides(demand.asked) or 'nobody'} |"
    cells = len(HOSTS) * len(BLENDERS) * len(DEMANDS)
    refused = sum(bool(demand.expected(host, one)) for demand in DEMANDS.values() for host in HOSTS for one in BLENDERS)
    yield ""
    yield f"{cells} cells, of which {refused} refuse."


def _refused(demand: Demand) -> Iterator[str]:
    for rule, sides in demand.refused.items():
        yield f"`{rule}`: {_sides(sides)}"


def _sides(sides: tuple[str, ...]) -> str:
    left_out = [host for host in HOSTS if host not in sides]
    if not left_out:
        return "every host"
    if 0 < len(left_out) <= 2 and len(sides) > 3:
        return f"every host but {', '.join(left_out)}"
    return ", ".join(sides)


if __name__ == "__main__":
    sys.exit(main())

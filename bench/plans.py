"""What it costs to compile a plan: text to schedule, at 10,000 and 100,000 operations, and how it grows."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator
from time import process_time
from typing import Any

import orjson

from bench.table import row
from blendwright.dialects import operations
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.session_contract import ContractTerms
from blendwright.schemas.json_reader import read_json
from blendwright.tools import catalog

SIZES = (10_000, 100_000)
MOST_SECONDS = 10.0
# Ten times the operations in at most this many times the time.
MOST_GROWTH = 14.0


def measure() -> Iterator[dict[str, Any]]:
    """Rows of the table: seconds at each size, and the growth between them."""
    catalog.fingerprint()
    compiled(plan_text(100))
    seconds: list[float] = []
    for size in SIZES:
        text = plan_text(size)
        gc.collect()
        seconds.append(min(compiled(text) for _ in range(3)))
        limit = MOST_SECONDS if size == SIZES[-1] else None
        yield row(f"compile a plan of {size:,} operations", seconds[-1], "s", limit)
    yield row("compile 100,000 / 10,000 operations", seconds[1] / seconds[0], "x", MOST_GROWTH)


def plan_text(size: int) -> bytes:
    """A layered plan in shuffled order; each operation waits for two that were made before it."""
    chance = random.Random(size)
    listed: list[dict[str, Any]] = []
    for number in range(size):
        earlier = sorted({chance.randrange(number) for _ in range(2)}) if number else []
        listed.append(
            {
                "operation_id": f"op{number:06d}",
                "tool_name": "mesh.create_primitive",
                "args": {"kind": "cube", "name": f"Box{number:06d}", "location": [number, 0, 0.5]},
                "depends_on": [f"op{other:06d}" for other in earlier],
                "safety_level": "safe_write",
            }
        )
    chance.shuffle(listed)
    return orjson.dumps({"request_id": f"bench-{size}", "operations": listed})


def compiled(text: bytes) -> float:
    """Seconds of the processor from bytes to a schedule; nothing in it waits for anything."""
    started = process_time()
    document, findings = read_json(text)
    assert not findings
    valid = validate(operations.DIALECT.parse(document), catalog.tools(), ContractTerms())
    assert isinstance(valid, ValidPlan)
    valid.schedule(catalog.fingerprint(), "0" * 64)
    return process_time() - started

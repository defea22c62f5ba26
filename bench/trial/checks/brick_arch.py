from __future__ import annotations

import math
from collections.abc import Iterator

from bench.trial.checks.facts import Facts, colors, light, named, near, seen


def brick_arch(facts: Facts) -> Iterator[str]:
    key = facts["objects"].get("Keystone")
    bricks = {
        name: one
        for name, one in named(facts, "").items()
        if max(one["dimensions"]) < 1.2 and name != "Keystone" and one["materials"]
    }
    if key is None or not key["materials"]:
        yield "there is no Keystone with a material"
        return
    curve = {name: one for name, one in bricks.items() if one["location"][2] > 2.0}
    pillars = {name: one for name, one in bricks.items() if one["location"][2] <= 2.0}
    if len(curve) != 14:
        yield f"the arch has {len(curve)} bricks beside the keystone, not 14"
    for name, one in curve.items():
        x, _, z = one["location"]
        if not near(math.hypot(x, z - 2.0), 1.3, 0.15):
            yield f"{name} is not on the half circle"
    for side in (-1, 1):
        own = [one for one in pillars.values() if one["location"][0] * side > 0]
        if not own:
            yield "a pillar is missing"
            continue
        low = [min(one["low"][axis] for one in own) for axis in range(3)]
        high = [max(one["high"][axis] for one in own) for axis in range(3)]
        inner = low[0] if side > 0 else -high[0]
        if not (near(low[2], 0, 0.03) and near(high[2], 2.0, 0.03)):
            yield "a pillar is not 2 m high on the ground"
        if not (near(high[0] - low[0], 0.6) and near(high[1] - low[1], 0.6) and near(inner, 1.0)):
            yield "a pillar is not 0.6 m square beside a gap of 2 m"
        if len({round(one["location"][2], 2) for one in own}) != 10:
            yield "a pillar does not have ten courses"
    if not (near(key["location"][0], 0) and key["location"][2] > 3.1):
        yield "the keystone is not in the middle of the arch"
    if curve and math.prod(key["dimensions"]) <= max(math.prod(one["dimensions"]) for one in curve.values()):
        yield "the keystone is not bigger than the others"
    reds = colors(bricks)
    if len(reds) < 2 or not all(red > 1.5 * max(green, blue) for red, green, blue in reds):
        yield "the bricks are not of two reds or more"
    elif sum(key["materials"][0]["color"]) <= max(map(sum, reds)):
        yield "the keystone is not lighter"
    if not any(one["high"][2] < 0.05 and one["dimensions"][0] > 3.5 for one in named(facts, "").values()):
        yield "there is no ground"
    yield from light(facts, "SUN")
    yield from seen(facts, {**bricks, "Keystone": key})

from __future__ import annotations

from collections.abc import Iterator

from bench.trial.checks.facts import Facts, Objects, light, named, near, seen


def parametric_stairs(facts: Facts) -> Iterator[str]:
    objects: Objects = facts["objects"]
    if objects.get("Stairs", {}).get("type") != "EMPTY":
        yield "there is no empty called Stairs"
    steps = named(facts, "step_")
    wanted = [f"Step_{number:02}" for number in range(1, 15)]
    if sorted(steps) != wanted:
        yield f"the steps are {len(steps)}, not Step_01 to Step_14"
        return
    for number, name in enumerate(wanted, start=1):
        one = steps[name]
        middle = (one["low"][1] + one["high"][1]) / 2
        if not near(one["high"][2], 0.18 * number, 0.005):
            yield f"the top of {name} is not at {0.18 * number:.2f} m"
        if not near(middle, 0.28 * (number - 0.5), 0.03) or not near(one["high"][1] - one["low"][1], 0.28, 0.06):
            yield f"{name} is not where its run is"
        if not (near(one["high"][0], 0.6) and near(one["low"][0], -0.6)):
            yield f"{name} is not 1.2 m wide and centred"
    posts, rails = named(facts, "post"), named(facts, "rail")
    if len(posts) < 7 or not rails:
        yield "posts or rail are missing"
        return
    if any(one["location"][0] < 0.4 for one in posts.values()):
        yield "a post is not on the right side"
    for name, one in posts.items():
        if not any(near(one["low"][2], step["high"][2], 0.03) for step in steps.values()):
            yield f"{name} does not stand on a step"
        if not near(one["high"][2] - one["low"][2], 0.9, 0.15):
            yield f"{name} is not about 0.9 m high"
    ends = [(min if low else max)(one["low" if low else "high"][1] for one in rails.values()) for low in (True, False)]
    spread = [one["location"][1] for one in posts.values()]
    if ends[0] > min(spread) or ends[1] < max(spread):
        yield "the rail does not run along all the posts"
    if any(one["parent"] != "Stairs" for one in {**steps, **posts, **rails}.values()):
        yield "not everything belongs to Stairs"
    if not all(one["materials"] and one["materials"][0]["metallic"] > 0.5 for one in rails.values()):
        yield "the rail is not of metal"
    if not all(one["materials"] and one["materials"][0]["metallic"] < 0.5 for one in steps.values()):
        yield "the steps are not of wood"
    yield from light(facts)
    yield from seen(facts, {**steps, **posts, **rails})

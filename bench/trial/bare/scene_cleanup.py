import bpy
from mathutils import Matrix
D = bpy.data
used = {m.object for o in D.objects for m in o.modifiers if getattr(m, "object", None)}
for o in list(D.objects):
    if o.hide_render and o not in used:
        D.objects.remove(o)

def what(o):
    x, z, flat = o.location.x, o.location.z, o.dimensions.z
    if x < -1:
        return "Chair_Seat" if z < 0.5 and flat < 0.1 else "Chair_Back" if z > 0.5 else "Chair_Leg"
    if x < 1:
        return "Table_HoleCutter" if o.hide_render else "Table_Top" if z > 0.5 else "Table_Leg"
    return "Lamp_Foot" if z < 0.1 else "Lamp_Pole" if z < 1 else "Lamp_Shade"

names = {o: what(o) if o.type == "MESH" else {"POINT": "Lamp_Light", "SUN": "Sun"}[o.data.type] if o.type == "LIGHT" else "Camera" for o in D.objects}
groups = {k: D.collections.new(k) for k in ("Furniture", "Lights", "Cameras")}
for c in groups.values():
    bpy.context.scene.collection.children.link(c)
seen = {}
for o, name in names.items():
    seen[name] = seen.get(name, 0) + 1
    o.name = "%s_%d" % (name, seen[name]) if list(names.values()).count(name) > 1 else name
    o.data.name = o.name
    for c in list(o.users_collection):
        c.objects.unlink(o)
    groups[{"LIGHT": "Lights", "CAMERA": "Cameras"}.get(o.type, "Furniture")].objects.link(o)
    if o.type == "MESH":
        o.data.transform(Matrix.Diagonal((*o.scale, 1)))
        o.scale = (1, 1, 1)
        for s in o.material_slots:
            if s.material.name.startswith("Wood."):
                s.material = D.materials["Wood"]
for m in list(D.materials):
    if m.users - m.use_fake_user == 0:
        D.materials.remove(m)
print(len(D.objects), "objects,", [m.name for m in D.materials])

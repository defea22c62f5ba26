import bpy
for o in bpy.context.scene.objects:
    print(o.name, o.type, [round(v, 2) for v in o.location], [round(v, 2) for v in o.dimensions], [m.name for m in o.data.materials] if o.type == "MESH" else "", "hidden" if o.hide_render else "", [(m.type, m.object.name) for m in o.modifiers])
print([(m.name, m.users, m.use_fake_user) for m in bpy.data.materials])

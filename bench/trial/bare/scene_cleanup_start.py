import bpy

bpy.ops.wm.read_factory_settings(use_empty=True)


def material(name, color, keep=False):
    m = bpy.data.materials.new(name)
    m.use_nodes = True
    m.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*color, 1)
    m.diffuse_color = (*color, 1)
    m.use_fake_user = keep
    return m


wood = [material("Wood", (0.4, 0.22, 0.1)) for _ in range(4)]
cloth, brass = material("Material.001", (0.1, 0.2, 0.3)), material("Material.002", (0.6, 0.42, 0.18))
for number in range(3):
    material("Test", (number / 3, 0.5, 0.5), keep=True)


def mesh(kind, at, scale, mat, hidden=False):
    getattr(bpy.ops.mesh, "primitive_%s_add" % kind)(location=at)
    ob = bpy.context.object
    ob.scale = scale
    ob.data.materials.append(mat)
    ob.hide_render = hidden
    ob.hide_set(hidden)
    return ob


# A chair: seat, back, four legs.
mesh("cube", (-1.5, 0, 0.45), (0.25, 0.25, 0.03), cloth)
mesh("cube", (-1.5, 0.23, 0.75), (0.25, 0.02, 0.27), wood[0])
for x in (-1.72, -1.28):
    for y in (-0.22, 0.22):
        mesh("cube", (x, y, 0.21), (0.025, 0.025, 0.21), wood[1])
# A table with a hole for an umbrella.
top = mesh("cylinder", (0.3, 0, 0.73), (0.6, 0.6, 0.02), wood[2])
for x in (-0.1, 0.7):
    for y in (-0.3, 0.3):
        mesh("cube", (x, y, 0.355), (0.03, 0.03, 0.355), wood[3])
cutter = mesh("cylinder", (0.3, 0, 0.73), (0.04, 0.04, 0.2), wood[2], hidden=True)
hole = top.modifiers.new("Hole", "BOOLEAN")
hole.object = cutter
# A lamp.
mesh("cylinder", (2, 0.4, 0.02), (0.18, 0.18, 0.02), brass)
mesh("cylinder", (2, 0.4, 0.8), (0.015, 0.015, 0.78), brass)
mesh("cone", (2, 0.4, 1.6), (0.22, 0.22, 0.14), cloth)
bpy.ops.object.light_add(type="POINT", location=(2, 0.4, 1.55))
bpy.context.object.data.energy = 60
bpy.ops.object.light_add(type="SUN", location=(0, 0, 4), rotation=(0.6, 0.2, 0))
bpy.ops.object.camera_add(location=(0.3, -5.5, 2.2), rotation=(1.3, 0, 0))
bpy.context.scene.camera = bpy.context.object
# What somebody tried and forgot.
mesh("cube", (3, 3, 1), (1, 1, 1), wood[0], hidden=True)
mesh("uv_sphere", (-3, 2, 1), (0.5, 0.5, 0.5), cloth, hidden=True)
mesh("cone", (0, 4, 1), (0.5, 0.5, 0.5), brass, hidden=True)

import bpy, math, random
from mathutils import Vector
bpy.ops.wm.read_factory_settings(use_empty=True)
rnd = random.Random(3)

def mat(name, color, rough=0.7, metallic=0, emission=None, strength=0):
    m = bpy.data.materials.new(name)
    m.use_nodes = True
    b = m.node_tree.nodes["Principled BSDF"]
    b.inputs["Base Color"].default_value = (*color, 1)
    b.inputs["Roughness"].default_value = rough
    b.inputs["Metallic"].default_value = metallic
    if emission:
        b.inputs["Emission Color"].default_value = (*emission, 1)
        b.inputs["Emission Strength"].default_value = strength
    m.diffuse_color = (*color, 1)
    return m

floor_wood = mat("FloorWood", (0.35, 0.19, 0.09), 0.45)
wall = mat("WarmWhite", (0.82, 0.77, 0.68), 0.9)
oak = mat("Oak", (0.28, 0.15, 0.07), 0.5)
cloth = mat("Cloth", (0.10, 0.22, 0.24), 0.95)
wool = mat("Wool", (0.50, 0.16, 0.12), 1)
brass = mat("Brass", (0.6, 0.42, 0.18), 0.3, 1)
shade = mat("Shade", (0.9, 0.75, 0.5), 0.8, 0, (1, 0.7, 0.4), 1.5)
covers = [mat("Cover_%d" % i, c) for i, c in enumerate([
    (0.45, 0.06, 0.05), (0.06, 0.16, 0.40), (0.08, 0.28, 0.12), (0.55, 0.36, 0.06), (0.25, 0.08, 0.30), (0.70, 0.65, 0.55)])]

def finish(name, m, parent=None):
    ob = bpy.context.object
    ob.name = name
    ob.data.materials.append(m)
    ob.parent = parent
    return ob

def box(name, size, low, m, bevel=None, parent=None, turn=0):
    # low: middle of the bottom face
    bpy.ops.mesh.primitive_cube_add(size=1, location=(low[0], low[1], low[2] + size[2] / 2))
    ob = finish(name, m)
    ob.scale = size
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    ob.rotation_euler.z = math.radians(turn)
    ob.parent = parent
    if bevel:
        mod = ob.modifiers.new("Bevel", "BEVEL")
        mod.width = bevel
        mod.segments = 3
    return ob

def rod(name, r, h, low, m, parent=None):
    bpy.ops.mesh.primitive_cylinder_add(radius=r, depth=h, location=(low[0], low[1], low[2] + h / 2))
    bpy.ops.object.shade_smooth()
    return finish(name, m, parent)

# The corner: floor 4 x 4 m, walls behind (+Y) and on the left (-X).
box("Floor", (4, 4, 0.1), (0, 0, -0.1), floor_wood)
box("Wall_Back", (4.1, 0.1, 2.6), (-0.05, 2.05, 0), wall)
box("Wall_Left", (0.1, 4, 2.6), (-2.05, 0, 0), wall)
rod("Rug", 1.35, 0.02, (0.1, 0.3, 0), wool)
g = 0.02  # what stands on the rug

chair = bpy.data.objects.new("Armchair", None)
bpy.context.collection.objects.link(chair)
chair.location = (0.3, 0.6, g)
chair.rotation_euler.z = math.radians(-25)
for i, (x, y) in enumerate([(-0.3, -0.3), (0.3, -0.3), (-0.3, 0.3), (0.3, 0.3)]):
    rod("Chair_Leg_%d" % (i + 1), 0.025, 0.2, (x, y, 0), oak, chair)
box("Chair_Seat", (0.56, 0.72, 0.23), (0, 0, 0.2), cloth, 0.04, chair)
box("Chair_Back", (0.76, 0.16, 0.75), (0, 0.36, 0.2), cloth, 0.05, chair)
for s, side in [(-1, "L"), (1, "R")]:
    box("Chair_Arm_" + side, (0.12, 0.74, 0.42), (s * 0.33, 0, 0.2), cloth, 0.04, chair)

rod("Table_Foot", 0.16, 0.03, (-0.6, 0.2, g), oak)
rod("Table_Stem", 0.03, 0.46, (-0.6, 0.2, g + 0.03), oak)
rod("Table_Top", 0.27, 0.03, (-0.6, 0.2, g + 0.49), oak)
z = g + 0.52
for i in range(4):
    h = 0.03 + 0.005 * i
    box("Stack_Book_%d" % (i + 1), (0.2 - 0.01 * i, 0.15, h), (-0.6, 0.2, z), covers[i], turn=12 * i - 15)
    z += h

rod("Lamp_Foot", 0.15, 0.03, (1.15, 1.15, 0), brass)
rod("Lamp_Pole", 0.015, 1.45, (1.15, 1.15, 0.03), brass)
bpy.ops.mesh.primitive_cone_add(radius1=0.24, radius2=0.14, depth=0.28, end_fill_type="NOTHING", location=(1.15, 1.15, 1.56))
bpy.ops.object.shade_smooth()
finish("Lamp_Shade", shade)

def light(name, kind, energy, color, at, rotation=(0, 0, 0)):
    data = bpy.data.lights.new(name, kind)
    data.energy = energy
    data.color = color
    ob = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(ob)
    ob.location = at
    ob.rotation_euler = [math.radians(d) for d in rotation]
    return data

light("Lamp_Light", "POINT", 90, (1, 0.72, 0.42), (1.15, 1.15, 1.52)).shadow_soft_size = 0.06
light("Window_Light", "AREA", 60, (0.85, 0.9, 1), (1.5, -2.5, 2.4), (50, 0, 30)).size = 2

# The shelf stands at the back wall: y from 1.70 to 2.00.
sx, w, d, t = -0.95, 1.0, 0.3, 0.03
y = 2 - d / 2
for s, side in [(-1, "L"), (1, "R")]:
    box("Shelf_Side_" + side, (t, d, 1.8), (sx + s * (w - t) / 2, y, 0), oak)
box("Shelf_Rear", (w - 2 * t, 0.015, 1.8), (sx, 2 - 0.0075, 0), oak)
levels, n = 5, 0
for k in range(levels):
    base = 0.06 + k * 0.43
    box("Shelf_Board_%d" % (k + 1), (w - 2 * t, d - 0.015, t), (sx, y - 0.0075, base - (t if k == levels - 1 else 0)), oak)
    if k == levels - 1:
        break
    x = sx - w / 2 + t + 0.01
    for _ in range(rnd.randint(8, 12)):
        bw, bh = rnd.uniform(0.03, 0.06), rnd.uniform(0.24, 0.34)
        n += 1
        box("Book_%02d" % n, (bw, 0.2, bh), (x + bw / 2, y - 0.02, base + t), rnd.choice(covers))
        x += bw + 0.004

cam_data = bpy.data.cameras.new("Camera")
cam_data.lens = 30
cam = bpy.data.objects.new("Camera", cam_data)
bpy.context.collection.objects.link(cam)
cam.location = (2.3, -3.4, 1.9)
cam.rotation_euler = (Vector((-0.15, 0.9, 0.75)) - cam.location).to_track_quat("-Z", "Y").to_euler()
bpy.context.scene.camera = cam
print(n, "books,", len(bpy.data.objects), "objects")

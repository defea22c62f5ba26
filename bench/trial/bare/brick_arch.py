import bpy, math, random
from mathutils import Vector
bpy.ops.wm.read_factory_settings(use_empty=True)
rnd = random.Random(7)

def material(name, color, roughness):
    m = bpy.data.materials.new(name)
    m.use_nodes = True
    b = m.node_tree.nodes["Principled BSDF"]
    b.inputs["Base Color"].default_value = (*color, 1)
    b.inputs["Roughness"].default_value = roughness
    m.diffuse_color = (*color, 1)
    return m

reds = [material("Brick_%d" % i, c, 0.85) for i, c in enumerate([(0.36, 0.09, 0.05), (0.42, 0.12, 0.07), (0.30, 0.07, 0.05)])]
stone = material("Stone", (0.62, 0.56, 0.46), 0.8)
grass = material("Grass", (0.10, 0.20, 0.05), 1)
courses, gap, h, side, joint = 10, 2.0, 0.2, 0.6, 0.012
top = courses * h

def brick(name, size, at, turn=0, mat=None):
    bpy.ops.mesh.primitive_cube_add(size=1, location=at, rotation=(0, math.radians(turn), 0))
    ob = bpy.context.object
    ob.name = name
    ob.scale = size
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    ob.data.materials.append(mat or rnd.choice(reds))
    bevel = ob.modifiers.new("Bevel", "BEVEL")
    bevel.width = 0.008
    bevel.segments = 3
    return ob

# Each course is two half bricks, laid crosswise to the course below.
for s, label in [(-1, "L"), (1, "R")]:
    for c in range(courses):
        for k in (-1, 1):
            half = (side - joint) / 2
            off = k * (half + joint) / 2
            x = s * (gap + side) / 2
            across = c % 2
            size = (half, side, h - joint) if across else (side, half, h - joint)
            at = (x + off, 0, (c + 0.5) * h) if across else (x, off, (c + 0.5) * h)
            brick("Pillar_%s_%02d_%s" % (label, c + 1, "a" if k < 0 else "b"), size, at)

n = 15
radius = gap / 2 + side / 2
for i in range(n):
    a = 180.0 * (i + 0.5) / n
    key = i == n // 2
    deep = side + (0.16 if key else 0)
    r = radius + (0.06 if key else 0)
    wide = (math.pi * (gap / 2) / n - joint + 0.03) * (1.25 if key else 1)
    brick("Keystone" if key else "Arch_%02d" % (i + 1), (deep, side + (0.06 if key else 0), wide),
          (r * math.cos(math.radians(a)), 0, top + r * math.sin(math.radians(a))), -a, stone if key else None)

bpy.ops.mesh.primitive_plane_add(size=14)
bpy.context.object.name = "Ground"
bpy.context.object.data.materials.append(grass)
bpy.ops.object.light_add(type="SUN", rotation=(math.radians(50), 0, math.radians(30)))
sun = bpy.context.object
sun.name = "Sun"
sun.data.energy = 4
sun.data.angle = math.radians(1)
sun.data.color = (1, 0.95, 0.85)
bpy.ops.object.camera_add(location=(2.6, -8.5, 2.2))
cam = bpy.context.object
cam.name = "Camera"
cam.data.lens = 40
cam.rotation_euler = (Vector((0, 0, 1.75)) - cam.location).to_track_quat("-Z", "Y").to_euler()
bpy.context.scene.camera = cam
print(len(bpy.data.objects), "objects")

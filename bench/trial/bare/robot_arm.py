import bpy, math
from mathutils import Vector
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene

def material(name, color, rough, metallic):
    m = bpy.data.materials.new(name)
    m.use_nodes = True
    b = m.node_tree.nodes["Principled BSDF"]
    b.inputs["Base Color"].default_value = (*color, 1)
    b.inputs["Roughness"].default_value = rough
    b.inputs["Metallic"].default_value = metallic
    m.diffuse_color = (*color, 1)
    return m

orange = material("Orange", (0.8, 0.25, 0.02), 0.4, 0)
grey = material("DarkMetal", (0.06, 0.06, 0.07), 0.35, 1)

def put(ob, name, mat, parent, at):
    ob.name = name
    ob.data.materials.append(mat)
    ob.parent = parent
    ob.location = at
    return ob

def rod(name, r, h, at, mat, parent=None, axis=(0, 0, 0), lift=0):
    bpy.ops.mesh.primitive_cylinder_add(radius=r, depth=h)
    bpy.ops.object.shade_smooth()
    ob = put(bpy.context.object, name, mat, parent, at)
    ob.rotation_euler = axis
    for v in ob.data.vertices:
        v.co.z += lift
    return ob

def box(name, size, center, at, parent, mat=orange):
    # center: where the middle of the box is, seen from its origin, which is the joint
    bpy.ops.mesh.primitive_cube_add(size=1)
    ob = bpy.context.object
    for v in ob.data.vertices:
        v.co = [v.co[i] * size[i] + center[i] for i in range(3)]
    bevel = ob.modifiers.new("Bevel", "BEVEL")
    bevel.width = 0.015
    bevel.segments = 3
    return put(ob, name, mat, parent, at)

side = (math.pi / 2, 0, 0)
base = rod("Base", 0.45, 0.2, (0, 0, 0), grey, lift=0.1)
table = rod("Turntable", 0.35, 0.2, (0, 0, 0.2), orange, base, lift=0.1)
upper = box("UpperArm", (0.2, 0.2, 1), (0, 0, 0.5), (0, 0, 0.2), table)
rod("Shoulder_Joint", 0.14, 0.3, (0, 0, 0), grey, upper, side)
fore = box("Forearm", (0.15, 0.15, 0.8), (0, 0, 0.4), (0, 0, 1), upper)
rod("Elbow_Joint", 0.11, 0.24, (0, 0, 0), grey, fore, side)
wrist = box("Wrist", (0.12, 0.12, 0.16), (0, 0, 0.08), (0, 0, 0.8), fore)
rod("Wrist_Joint", 0.08, 0.2, (0, 0, 0), grey, wrist, side)
grip = box("Gripper", (0.12, 0.34, 0.06), (0, 0, 0.03), (0, 0, 0.16), wrist, grey)
fingers = [box("Finger_" + n, (0.06, 0.04, 0.22), (0, 0, 0.11), (0, s * 0.13, 0.06), grip) for n, s in (("L", -1), ("R", 1))]

scene.frame_start, scene.frame_end = 1, 60

def key(ob, prop, frames):
    for frame, value in frames:
        setattr(ob, prop, value)
        ob.keyframe_insert(prop, frame=frame)

turn = lambda x, y, z: tuple(map(math.radians, (x, y, z)))
key(table, "rotation_euler", [(1, turn(0, 0, 0)), (40, turn(0, 0, 90))])
key(upper, "rotation_euler", [(1, turn(0, 10, 0)), (45, turn(0, 45, 0))])
key(fore, "rotation_euler", [(1, turn(0, 50, 0)), (45, turn(0, 70, 0))])
for ob, s in zip(fingers, (-1, 1)):
    key(ob, "location", [(45, (0, s * 0.13, 0.06)), (60, (0, s * 0.03, 0.06))])
scene.frame_set(1)

bpy.ops.object.light_add(type="SUN", rotation=turn(40, 15, 30))
bpy.context.object.name = "Sun"
bpy.context.object.data.energy = 3
bpy.ops.object.camera_add(location=(4.5, -4.5, 2.4))
cam = bpy.context.object
cam.name = "Camera"
cam.data.lens = 35
cam.rotation_euler = (Vector((0.4, 0.4, 0.8)) - cam.location).to_track_quat("-Z", "Y").to_euler()
scene.camera = cam
print(len(bpy.data.objects), "objects")

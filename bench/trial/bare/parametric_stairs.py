import bpy, math
from mathutils import Vector
bpy.ops.wm.read_factory_settings(use_empty=True)

def material(name, color, roughness, metallic=0):
    m = bpy.data.materials.new(name)
    m.use_nodes = True
    b = m.node_tree.nodes["Principled BSDF"]
    b.inputs["Base Color"].default_value = (*color, 1)
    b.inputs["Roughness"].default_value = roughness
    b.inputs["Metallic"].default_value = metallic
    m.diffuse_color = (*color, 1)
    return m

wood = material("Wood", (0.42, 0.24, 0.11), 0.5)
metal = material("Metal", (0.5, 0.5, 0.52), 0.3, 1)

def build_stairs(steps=14, width=1.2, rise=0.18, run=0.28, rail_height=0.9):
    board = 0.04
    stairs = bpy.data.objects.new("Stairs", None)
    bpy.context.collection.objects.link(stairs)

    def top(i):
        return Vector((0, run * (i + 0.5), rise * (i + 1)))

    def cylinder(name, radius, depth, at, rotation=(0, 0, 0)):
        bpy.ops.mesh.primitive_cylinder_add(radius=radius, depth=depth, location=at, rotation=rotation)
        ob = bpy.context.object
        ob.name = name
        ob.parent = stairs
        ob.data.materials.append(metal)
        bpy.ops.object.shade_smooth()

    for i in range(steps):
        bpy.ops.mesh.primitive_cube_add(size=1, location=top(i) - Vector((0, 0, board / 2)))
        ob = bpy.context.object
        ob.name = "Step_%02d" % (i + 1)
        ob.scale = (width, run + 0.02, board)
        bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
        ob.parent = stairs
        ob.data.materials.append(wood)
        bevel = ob.modifiers.new("Bevel", "BEVEL")
        bevel.width = 0.004
        bevel.segments = 3

    x = width / 2 - 0.05
    for i in sorted(set(range(0, steps, 2)) | {steps - 1}):
        cylinder("Post_%02d" % (i + 1), 0.018, rail_height, top(i) + Vector((x, 0, rail_height / 2)))
    a, b = (top(i) + Vector((x, 0, rail_height)) for i in (0, steps - 1))
    cylinder("Rail", 0.025, (b - a).length + 0.1, (a + b) / 2, (math.atan2(rise, run) - math.pi / 2, 0, 0))
    print("total height", rise * steps)

build_stairs()
bpy.ops.object.light_add(type="SUN", rotation=[math.radians(d) for d in (40, 15, 30)])
bpy.context.object.name = "Sun"
bpy.context.object.data.energy = 3
bpy.ops.object.camera_add()
cam = bpy.context.object
cam.name = "Camera"
cam.data.lens = 40
cam.rotation_euler = Vector((-1, 0.75, -0.45)).to_track_quat("-Z", "Y").to_euler()
bpy.context.scene.camera = cam
bpy.ops.object.select_all(action="DESELECT")
for ob in bpy.data.objects:
    ob.select_set(ob.type == "MESH")
bpy.context.view_layer.update()
coords = [c for ob in bpy.context.selected_objects for v in ob.bound_box for c in ob.matrix_world @ Vector(v)]
at, _ = cam.camera_fit_coords(bpy.context.evaluated_depsgraph_get(), coords)
cam.location = at - Vector((-1, 0.75, -0.45)).normalized() * 0.8

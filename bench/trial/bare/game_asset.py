import bpy, bmesh
from mathutils import Matrix, Vector
bpy.ops.wm.read_factory_settings(use_empty=True)

def material(name, color, rough, metallic):
    m = bpy.data.materials.new(name)
    m.use_nodes = True
    b = m.node_tree.nodes["Principled BSDF"]
    b.inputs["Base Color"].default_value = (*color, 1)
    b.inputs["Roughness"].default_value = rough
    b.inputs["Metallic"].default_value = metallic
    m.diffuse_color = (*color, 1)
    return m

bm = bmesh.new()

def box(size, at, mat=0, turn=None):
    made = bmesh.ops.create_cube(bm, size=1)["verts"]
    m = Matrix.Translation(at) @ Matrix.Diagonal((*size, 1))
    bmesh.ops.transform(bm, matrix=turn @ m if turn else m, verts=made)
    for f in {f for v in made for f in v.link_faces}:
        f.material_index = mat

beam, corner, n = 0.1, 0.16, 5
up = Matrix.Translation((0, 0, 0.5))
turns = [Matrix.Rotation(a * 1.5707963, 4, "Z") for a in range(4)] + [Matrix.Rotation(a * 1.5707963, 4, "Y") for a in (1, 3)]
inner = 1 - 2 * beam
w = inner / n
for turn in turns:  # the planks of a side, facing +X, a bit inside the frame
    for i in range(n):
        box((0.03, inner + 0.02, w - 0.008), (0.46, 0, (i + 0.5) * w - inner / 2), 0, up @ turn)
off = 0.5 - beam / 2 - 0.005
for a in (-1, 1):
    for b in (-1, 1):  # the frame
        box((1 - 0.01, beam, beam), (0, a * off, 0.5 + b * off))
        box((beam, inner, beam), (a * off, 0, 0.5 + b * off))
        box((beam, beam, inner), (a * off, b * off, 0.5))
c = 0.5 - corner / 2
for x in (-1, 1):
    for y in (-1, 1):
        for z in (-1, 1):
            box((corner, corner, corner), (x * c, y * c, 0.5 + z * c), 1)
mesh = bpy.data.meshes.new("Crate")
bm.to_mesh(mesh)
mesh.materials.append(material("Wood", (0.35, 0.2, 0.09), 0.7, 0))
mesh.materials.append(material("Metal", (0.3, 0.3, 0.32), 0.4, 1))
ob = bpy.data.objects.new("Crate", mesh)
bpy.context.collection.objects.link(ob)
bpy.context.view_layer.objects.active = ob
ob.select_set(True)
bpy.ops.object.mode_set(mode="EDIT")
bpy.ops.mesh.select_all(action="SELECT")
bpy.ops.uv.smart_project(island_margin=0.002)
bpy.ops.object.mode_set(mode="OBJECT")
mesh.calc_loop_triangles()
print(len(mesh.loop_triangles), "triangles", tuple(ob.dimensions))

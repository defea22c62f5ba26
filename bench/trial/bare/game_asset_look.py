import bpy, os
from mathutils import Vector
scene = bpy.context.scene
scene.render.engine = "BLENDER_WORKBENCH"
scene.display.shading.color_type = "MATERIAL"
scene.render.resolution_x, scene.render.resolution_y = 640, 480
scene.render.filepath = os.path.abspath("look.png")
cam = bpy.data.objects.new("Look", bpy.data.cameras.new("Look"))
scene.collection.objects.link(cam)
cam.location = (2, -2.4, 1.9)
cam.rotation_euler = (Vector((0, 0, 0.5)) - cam.location).to_track_quat("-Z", "Y").to_euler()
scene.camera = cam
bpy.ops.render.render(write_still=True)
bpy.data.objects.remove(cam)
print("look.png")

import bpy, os
scene = bpy.context.scene
scene.render.engine = "BLENDER_WORKBENCH"
scene.display.shading.color_type = "MATERIAL"
scene.render.resolution_x, scene.render.resolution_y = 640, 480
scene.render.filepath = os.path.abspath("look.png")
bpy.ops.render.render(write_still=True)
print("look.png")

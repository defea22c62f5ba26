"""What stays out of the fingerprint, and why.

Responsible for: the data that steers the RNA walk. Everything that RNA offers takes part unless a rule or an entry here
says otherwise, so that a property of a newer Blender takes part by itself. Holds no code that touches Blender.
"""

from typing import Final

EXCLUDED_KINDS: Final[dict[str, str]] = {
    "window_managers": "user interface: windows, key maps, running jobs",
    "screens": "user interface: the layout of areas",
    "workspaces": "user interface: tabs and their tools",
    "brushes": "tool state: comes from asset libraries, not part of what is modelled",
    "paint_curves": "tool state: strokes drawn for a brush",
    "libraries": "linked datablocks carry the library's path in their key",
}

# Rules on property names, for all types.
UI_NAMES: Final[frozenset[str]] = frozenset(
    {"select", "active", "is_active", "show_expanded", "is_expanded", "is_open"}
)
UI_PREFIXES: Final[tuple[str, ...]] = ("select_", "active_", "open_", "is_selected")

# Exceptions to the rules: (type, property) that is content although its name or its being read-only says otherwise.
INCLUDED: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        ("Scene", "active_clip"),  # constraints and nodes use it
        ("Bone", "use_connect"),  # writable only in edit mode
        # Which edges are drawn.
        *(
            ("FreestyleLineSet", f"select_{name}")
            for name in (
                *("by_visibility", "by_edge_types", "by_collection", "by_image_border", "by_face_marks"),
                *("silhouette", "border", "crease", "ridge_valley", "suggestive_contour", "material_boundary"),
                *("contour", "external_contour", "edge_mark"),
            )
        ),
        ("DynamicPaintSurface", "is_active"),  # whether it is painted on at all
        ("ShaderFxGlow", "select_color"),  # the colour that glows
        ("ThemeBoneColorSet", "select"),  # colours of bones
        ("ThemeBoneColorSet", "active"),
        # Set by an operator that binds; what it computes shows in no property.
        ("SurfaceDeformModifier", "is_bound"),
        ("MeshDeformModifier", "is_bound"),
        ("LaplacianDeformModifier", "is_bind"),
        ("CorrectiveSmoothModifier", "is_bind"),
    }
)

_DERIVED = "computed from other values that are in"
_EVALUATED = "an evaluated value"
_UI = "user interface state"
_SPECIAL = "read by a reader of its own"
_VIEW = "another view of data that is in"
_CLASS = "a constant of the class, not of the instance"
_CACHE = "the state of a cache"
_FILE = "read from an external file whose path is in"
_SESSION = "differs per session"

# Type -> property -> reason. Entries hold for subtypes too.
EXCLUDED: Final[dict[str, dict[str, str]]] = {
    "ID": {
        "name_full": _DERIVED,
        "users": _DERIVED,
        "tag": _SESSION,
        "session_uid": _SESSION,
        "id_type": _CLASS,
        "original": _EVALUATED,
        "library": "part of the key",
        "library_weak_reference": "a remark on where an appended datablock came from",
        "preview": "an image of the content, rendered when the interface likes",
        "use_extra_user": _SESSION,
        "is_runtime_data": _SESSION,
    },
    "IDOverrideLibrary": {"properties": "found by comparison when saving", "is_in_hierarchy": _DERIVED},
    "AssetMetaData": {"catalog_simple_name": "a copy for when the catalogue file is lost"},
    "Object": {
        "type": _DERIVED,
        "mode": _UI,
        "bound_box": _EVALUATED,
        "dimensions": _EVALUATED,
        "matrix_world": _EVALUATED,
        "matrix_local": _DERIVED,
        "matrix_basis": _DERIVED,
        "children": _DERIVED,
        "motion_path": _EVALUATED,
        "animation_visualization": "how motion paths are drawn",
        "use_shape_key_edit_mode": _UI,
        "use_mesh_mirror_x": _VIEW,
        "use_mesh_mirror_y": _VIEW,
        "use_mesh_mirror_z": _VIEW,
        "material_slots": _SPECIAL,
        "pose": _SPECIAL,
    },
    "Mesh": {
        **dict.fromkeys(
            ("vertices", "edges", "loops", "polygons", "uv_layers", "vertex_colors", "color_attributes"), _VIEW
        ),
        **dict.fromkeys(
            ("loop_triangles", "loop_triangle_polygons", "vertex_normals", "polygon_normals", "corner_normals"),
            _DERIVED,
        ),
        **dict.fromkeys(("uv_layer_clone", "uv_layer_clone_index", "uv_layer_stencil", "uv_layer_stencil_index"), _UI),
        **dict.fromkeys(("total_vert_sel", "total_edge_sel", "total_face_sel"), _UI),
        **dict.fromkeys(("texspace_location", "texspace_size"), _SPECIAL),
        "auto_texspace": _VIEW,
        "normals_domain": _DERIVED,
        "attributes": _SPECIAL,
        "skin_vertices": _SPECIAL,
        "vertex_paint_masks": _VIEW,
        "use_paint_mask": _UI,
        "use_paint_mask_vertex": _UI,
        "use_paint_bone_selection": _UI,
    },
    "Curve": dict.fromkeys(("texspace_location", "texspace_size"), _SPECIAL),
    "MetaBall": dict.fromkeys(("texspace_location", "texspace_size"), _SPECIAL),
    "TextCurve": {"edit_format": _UI},
    "Curves": {
        **dict.fromkeys(("curves", "points", "position_data", "color_attributes"), _VIEW),
        "normals": _EVALUATED,
        "surface_collision_distance": _UI,
    },
    "PointCloud": dict.fromkeys(("points", "color_attributes"), _VIEW),
    "GreasePencil": dict.fromkeys(("color_attributes", "root_nodes"), _VIEW),
    "GreasePencilDrawing": {"user_count": _DERIVED, "color_attributes": _VIEW, "strokes": _VIEW},
    "GreasePencilTreeNode": dict.fromkeys(("next_node", "prev_node"), _VIEW),
    "GreasePencilLayer": {"matrix_local": _DERIVED, "matrix_layer": _EVALUATED},
    "Lattice": {},
    "LatticePoint": {"co": _DERIVED, "groups": _SPECIAL},
    "Key": {"user": "the datablock that these keys are in refers to them"},
    "ShapeKey": {"frame": _SPECIAL, "points": _VIEW, "data": _SPECIAL},
    "VertexGroup": {"index": "its place in the list"},
    "Collection": {
        **dict.fromkeys(("objects", "all_objects"), "membership has leaves of its own"),
        "collection_objects": _SPECIAL,
        "collection_children": _SPECIAL,
        "active_exporter_index": _UI,
    },
    "Scene": {
        "objects": _DERIVED,
        "tool_settings": "settings of interactive tools",
        "transform_orientation_slots": _UI,
        "cursor": "a tool's position, not content",
        "frame_float": "frame_current and frame_subframe are in",
        "frame_current_final": _DERIVED,
        "keying_sets_all": _VIEW,
        "show_keys_from_selected_only": _UI,
        "lock_frame_selection_to_range": _UI,
    },
    "RenderSettings": {
        "stereo_views": _VIEW,
        "file_extension": _DERIVED,
        "frame_path": _DERIVED,
    },
    "ImageFormatSettings": {"linear_colorspace_settings": _SPECIAL},
    "View3DShading": {
        "selected_studio_light": "belongs to the preferences",
        "wireframe_color_type": "of viewports only; a scene's has no valid value",
        "cycles": _UI,
    },
    "ViewLayer": {
        "objects": _DERIVED,
        "depsgraph": _EVALUATED,
        "layer_collection": _SPECIAL,
    },
    "Modifier": {"persistent_uid": _SESSION, "execution_time": _EVALUATED},
    "NodesModifier": {
        "node_warnings": _EVALUATED,
        "panels": _UI,
        "show_group_selector": _UI,
        "show_manage_panel": _UI,
    },
    "NodesModifierBake": {"data_blocks": _CACHE, "node": "the bake's id is in"},
    "DecimateModifier": {"face_count": _EVALUATED},
    "MultiresModifier": {"total_levels": _DERIVED},
    "ClothModifier": {
        "hair_grid_min": _EVALUATED,
        "hair_grid_max": _EVALUATED,
        "hair_grid_resolution": _EVALUATED,
        "solver_result": _EVALUATED,
    },
    "FluidDomainSettings": {
        **dict.fromkeys(
            ("density_grid", "velocity_grid", "flame_grid", "color_grid", "heat_grid", "temperature_grid"), _EVALUATED
        ),
        **dict.fromkeys(("start_point", "cell_size", "domain_resolution"), _EVALUATED),
        **dict.fromkeys(
            (
                "cache_frame_pause_data",
                "cache_frame_pause_guide",
                "cache_frame_pause_mesh",
                "cache_frame_pause_noise",
                "cache_frame_pause_particles",
            ),
            _CACHE,
        ),
    },
    "Constraint": {"error_location": _EVALUATED, "error_rotation": _EVALUATED},
    "PointCache": {"info": _CACHE, "point_caches": _VIEW},
    "PointCacheItem": {"info": _CACHE},
    "ParticleSystem": {
        "particles": _EVALUATED,
        "child_particles": _EVALUATED,
        "dt_frac": _EVALUATED,
        "cloth": _SPECIAL,
        "point_cache": _SPECIAL,
    },
    "DynamicPaintSurface": {"point_cache": _SPECIAL},
    "FieldSettings": {"seed": _SPECIAL},
    "ParticleSettings": {"trail_count": _SPECIAL, "material_slot": "the name of the slot whose number is in"},
    "ParticleTarget": {"name": _DERIVED},
    "ParticleDupliWeight": {"name": _DERIVED},
    "PoseBone": {
        **dict.fromkeys(("matrix", "matrix_channel", "matrix_basis", "head", "tail", "length"), _EVALUATED),
        **dict.fromkeys(("bone", "parent", "child", "motion_path"), _VIEW),
    },
    "Pose": {"animation_visualization": "how motion paths are drawn", "bones": _SPECIAL},
    "Armature": {"edit_bones": "exist only in edit mode", "collections_all": _VIEW},
    "Bone": {
        "children": _DERIVED,
        "matrix": _DERIVED,
        "head": _DERIVED,
        "tail": _DERIVED,
        "length": _DERIVED,
        "collections": _DERIVED,
    },
    "BoneCollection": {"index": _DERIVED, "child_number": _DERIVED, "parent": _DERIVED},
    "AnimData": {
        "action_suitable_slots": _DERIVED,
        "last_slot_identifier": "a memory for when an action is assigned again",
        "action_slot_handle": _SESSION,
        "action_slot_handle_tweak_storage": _SESSION,
        "drivers": _SPECIAL,
        "use_tweak_mode": _UI,
        "use_pin": _UI,
    },
    "Action": {"curve_frame_range": _DERIVED, "fcurves": _SPECIAL},
    "ActionSlot": {"handle": "counts creations; the identifier is in", "target_id_type_icon": _DERIVED},
    "ActionChannelbag": {"slot_handle": "counts creations; the slot's identifier is in", "fcurves": _SPECIAL},
    "ActionGroup": {"channels": "each curve names its group", "colors": "a palette entry drawn in editors"},
    "ActionConstraint": {
        "action_suitable_slots": _DERIVED,
        "action_slot_handle": _SESSION,
        "last_slot_identifier": _UI,
    },
    "FCurve": {"is_valid": _EVALUATED},
    "Keyframe": {"co_ui": _VIEW},
    "Driver": {"is_valid": _EVALUATED},
    "NlaStrip": {
        "action_suitable_slots": _DERIVED,
        "action_slot_handle": _SESSION,
        "last_slot_identifier": _UI,
        "influence": _SPECIAL,
        "strip_time": _SPECIAL,
        "frame_start_ui": _VIEW,
        "frame_end_ui": _VIEW,
        "frame_start_raw": _VIEW,
        "frame_end_raw": _VIEW,
    },
    "NodeTree": {
        "view_center": _UI,
        "nodes": _SPECIAL,
        "links": _SPECIAL,
        "interface": _SPECIAL,
        "type": _CLASS,
        **dict.fromkeys(("bl_label", "bl_description", "bl_icon", "bl_use_group_interface"), _CLASS),
    },
    "Node": {
        "location_absolute": _DERIVED,
        "height": "recomputed when the node is drawn",
        "dimensions": "computed when the node is drawn",
        "show_preview": _UI,
        "internal_links": _DERIVED,
        "inputs": _SPECIAL,
        "outputs": _SPECIAL,
        "color_tag": _CLASS,
        **dict.fromkeys(("type", "bl_label", "bl_description", "bl_icon", "bl_static_type"), _CLASS),
        **dict.fromkeys(("bl_width_default", "bl_width_min", "bl_width_max"), _CLASS),
        **dict.fromkeys(("bl_height_default", "bl_height_min", "bl_height_max"), _CLASS),
    },
    "CompositorNodeImage": dict.fromkeys(("layer", "view"), _SPECIAL),
    "CompositorNodeCryptomatteV2": dict.fromkeys(("layer", "view"), _SPECIAL),
    "GeometryNodeClosureInput": {
        "paired_output": "experimental in Blender 4.5, where reading it without a pair crashes"
    },
    "GeometryNodeMenuSwitch": {"enum_definition": "the node itself"},
    "NodeSocket": {
        "node": _VIEW,
        "label": _DERIVED,
        "type": _CLASS,
        "description": _DERIVED,
        "link_limit": _CLASS,
        "display_shape": _DERIVED,
        "inferred_structure_type": _DERIVED,
        **dict.fromkeys(("bl_idname", "bl_label", "bl_subtype_label"), _CLASS),
    },
    "NodeTreeInterfaceItem": {"index": _DERIVED, "position": _DERIVED},
    "NodeTreeInterfacePanel": {"interface_items": _VIEW},
    "NodeTreeInterfaceSocket": {"bl_socket_idname": _CLASS},
    **{
        item: {"color": _DERIVED}
        for item in (
            "ForeachGeometryElementGenerationItem",
            "ForeachGeometryElementInputItem",
            "ForeachGeometryElementMainItem",
            "GeometryNodeFieldToGridItem",
            "NodeClosureInputItem",
            "NodeClosureOutputItem",
            "NodeCombineBundleItem",
            "NodeCompositorFileOutputItem",
            "NodeEvaluateClosureInputItem",
            "NodeEvaluateClosureOutputItem",
            "NodeFunctionFormatStringItem",
            "NodeGeometryBakeItem",
            "NodeGeometryCaptureAttributeItem",
            "NodeGeometryViewerItem",
            "NodeSeparateBundleItem",
            "RepeatItem",
            "SimulationStateItem",
        )
    },
    "Camera": dict.fromkeys(("angle", "angle_x", "angle_y"), _DERIVED),
    "Light": {"temperature_color": _DERIVED},
    "Material": {
        **dict.fromkeys(("texture_paint_images", "texture_paint_slots"), _DERIVED),
        **dict.fromkeys(("paint_active_slot", "paint_clone_slot"), _UI),
    },
    "Image": {
        **dict.fromkeys(("size", "channels", "depth", "frame_duration", "resolution"), _FILE),
        **dict.fromkeys(("pixels", "bindcode", "filepath_raw"), _VIEW),
        "file_format": "of an image from a file: what was read there; of others: how it would be written",
        "packed_file": "the first of packed_files, which are in",
        "render_slots": "rendered results",
        "type": _DERIVED,
    },
    "UDIMTile": dict.fromkeys(("size", "channels"), _FILE),
    "ImageUser": dict.fromkeys(("multilayer_layer", "multilayer_pass", "multilayer_view"), _UI),
    "PackedFile": {"size": _DERIVED},
    "Text": {
        "lines": _SPECIAL,
        **dict.fromkeys(
            ("current_line", "current_line_index", "current_character", "select_end_line", "select_end_line_index"), _UI
        ),
    },
    "Sound": dict.fromkeys(("samplerate", "channels", "factory"), _FILE),
    "MovieClip": {**dict.fromkeys(("size", "fps", "frame_duration"), _FILE), "source": _DERIVED},
    "MovieTracking": dict.fromkeys(("tracks", "plane_tracks", "reconstruction"), _VIEW),
    "MovieTrackingTrack": {"bundle": _DERIVED, "average_error": _DERIVED},
    "MovieTrackingMarker": {"pattern_bound_box": _DERIVED},
    "MovieTrackingDopesheet": dict.fromkeys(
        ("sort_method", "use_invert_sort", "show_hidden", "show_only_selected"), _UI
    ),
    "CacheFile": {"object_paths": _FILE},
    "Volume": {"grids": _FILE, **dict.fromkeys(("velocity_x_grid", "velocity_y_grid", "velocity_z_grid"), _FILE)},
    "Spline": dict.fromkeys(("point_count_u", "point_count_v", "character_index"), _DERIVED),
    "CurveProfile": {"segments": _DERIVED},
    "KeyingSet": {"type_info": _CLASS},
    "SequenceEditor": {
        **dict.fromkeys(("strips_all", "sequences_all", "sequences"), _VIEW),
        "meta_stack": _UI,
        **dict.fromkeys(("cache_raw_size", "cache_final_size"), _CACHE),
    },
    "Strip": {
        **dict.fromkeys(("frame_final_duration", "frame_final_start", "frame_final_end", "frame_duration"), _DERIVED),
        "sequences": _VIEW,
    },
    "MetaStrip": {"sequences": _VIEW},
    "MovieStrip": {"fps": _FILE},
    "MovieClipStrip": {"fps": _FILE},
    "SceneStrip": {"fps": _DERIVED},
}

# From Blender 4.4 an action has layers; these older properties show the first layer again.
LEGACY_ACTION: Final[frozenset[str]] = frozenset({"groups", "id_root"})

# Geometry attributes, by the beginning of their name.
EXCLUDED_ATTRIBUTES: Final[dict[str, str]] = {
    ".select_": _UI,
    ".selection": _UI,
    ".uv_select_": _UI,
    ".vs.": "selected vertices of a UV map, up to Blender 4.5",
    ".es.": "selected edges of a UV map, up to Blender 4.5",
    ".corner_edge": "follows from the corners' vertices and the edges",
}

"""Data that stays out of the fingerprint, with reasons, and the meaning of pointers where RNA gives none.

These tables steer the RNA walk. Every RNA property takes part unless a rule or an entry here excludes it, so a property of a
newer Blender takes part automatically. This module contains no code that touches Blender.
"""

from typing import Final

EXCLUDED_KINDS: Final[dict[str, str]] = {
    "window_managers": "user interface: windows, key maps, running jobs",
    "screens": "user interface: the layout of areas",
    "workspaces": "user interface: tabs and their tools",
    "brushes": "tool state: comes from asset libraries, not part of what is modelled",
    "paint_curves": "tool state: strokes drawn for a brush",
    "all_ids": "every datablock again, in one list (Blender 5.2)",
    "libraries": "linked datablocks carry the library's path in their key",
}

# Property names and prefixes of names that are user interface state in every type.
UI_NAMES: Final[frozenset[str]] = frozenset(
    {"select", "active", "is_active", "show_expanded", "is_expanded", "is_open"}
)
UI_PREFIXES: Final[tuple[str, ...]] = ("select_", "active_", "open_", "is_selected")

# Exceptions to the rules: (type, property) pairs that are content in spite of their name or of being read-only.
INCLUDED: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        ("Scene", "active_clip"),  # constraints and nodes use it
        ("Bone", "use_connect"),  # writable only in edit mode
        # These flags select the edges that Freestyle draws.
        *(
            ("FreestyleLineSet", f"select_{name}")
            for name in (
                *("by_visibility", "by_edge_types", "by_collection", "by_image_border", "by_face_marks"),
                *("silhouette", "border", "crease", "ridge_valley", "suggestive_contour", "material_boundary"),
                *("contour", "external_contour", "edge_mark"),
            )
        ),
        ("DynamicPaintSurface", "is_active"),  # enables painting on the surface
        ("ShaderFxGlow", "select_color"),  # the colour that glows
        ("ThemeBoneColorSet", "select"),  # colours of bones
        ("ThemeBoneColorSet", "active"),
        # A bind operator sets these flags. No property shows the data that it computes.
        ("SurfaceDeformModifier", "is_bound"),
        ("MeshDeformModifier", "is_bound"),
        ("LaplacianDeformModifier", "is_bind"),
        ("CorrectiveSmoothModifier", "is_bind"),
    }
)

_DERIVED = "computed from other hashed values"
_EVALUATED = "an evaluated value"
_UI = "user interface state"
READER = "read by a special reader"
_VIEW = "another view of hashed data"
_CLASS = "a constant of the class, not of the instance"
_CACHE = "the state of a cache"
_FILE = "read from an external file whose path is hashed"
_SESSION = "differs per session"

# The item types of the socket lists of nodes.
_SOCKET_ITEMS = (
    "ForeachGeometryElementGenerationItem ForeachGeometryElementInputItem ForeachGeometryElementMainItem "
    "GeometryNodeFieldToGridItem NodeClosureInputItem NodeClosureOutputItem NodeCombineBundleItem "
    "NodeCompositorFileOutputItem NodeEvaluateClosureInputItem NodeEvaluateClosureOutputItem "
    "NodeFunctionFormatStringItem NodeGeometryBakeItem NodeGeometryCaptureAttributeItem NodeGeometryViewerItem "
    "NodeSeparateBundleItem RepeatItem SimulationStateItem"
)

# Type -> reason -> properties excluded for this reason, separated by spaces. Entries apply to subtypes too.
_BY_REASON: Final[dict[str, dict[str, str]]] = {
    "ID": {
        _DERIVED: "name_full users",
        _SESSION: "tag session_uid use_extra_user is_runtime_data",
        _CLASS: "id_type",
        _EVALUATED: "original",
        "part of the key": "library",
        "a note about the origin of an appended datablock": "library_weak_reference",
        "a thumbnail that the interface renders on demand": "preview",
    },
    "IDOverrideLibrary": {"found by comparison when saving": "properties", _DERIVED: "is_in_hierarchy"},
    "AssetMetaData": {"a copy for when the catalogue file is lost": "catalog_simple_name"},
    "Object": {
        _DERIVED: "type matrix_local matrix_basis children",
        _UI: "mode use_shape_key_edit_mode",
        _EVALUATED: "bound_box dimensions matrix_world motion_path",
        "how motion paths are drawn": "animation_visualization",
        _VIEW: "use_mesh_mirror_x use_mesh_mirror_y use_mesh_mirror_z",
        READER: "material_slots pose",
    },
    "Mesh": {
        _VIEW: (
            "vertices edges loops polygons uv_layers vertex_colors color_attributes auto_texspace vertex_paint_masks"
        ),
        _DERIVED: "loop_triangles loop_triangle_polygons vertex_normals polygon_normals corner_normals normals_domain",
        _UI: (
            "uv_layer_clone uv_layer_clone_index uv_layer_stencil uv_layer_stencil_index total_vert_sel "
            "total_edge_sel total_face_sel use_paint_mask use_paint_mask_vertex use_paint_bone_selection"
        ),
        READER: "texspace_location texspace_size attributes skin_vertices",
    },
    "Curve": {READER: "texspace_location texspace_size"},
    "MetaBall": {READER: "texspace_location texspace_size"},
    "TextCurve": {_UI: "edit_format"},
    "Curves": {
        _VIEW: "curves points position_data color_attributes",
        _EVALUATED: "normals",
        _UI: "surface_collision_distance",
    },
    "PointCloud": {_VIEW: "points color_attributes"},
    "GreasePencil": {_VIEW: "color_attributes root_nodes"},
    "GreasePencilDrawing": {_DERIVED: "user_count", _VIEW: "color_attributes strokes"},
    "GreasePencilLayerGroup": {_VIEW: "children"},
    "GreasePencilTreeNode": {_VIEW: "next_node prev_node"},
    "GreasePencilLayer": {_DERIVED: "matrix_local", _EVALUATED: "matrix_layer"},
    "LatticePoint": {_DERIVED: "co", READER: "groups"},
    "Key": {"the owner of these keys refers to them": "user"},
    "ShapeKey": {READER: "frame data", _VIEW: "points"},
    "VertexGroup": {"the position in the list": "index"},
    "Collection": {
        "each membership has a separate leaf": "objects all_objects",
        READER: "collection_objects collection_children",
        _UI: "active_exporter_index",
    },
    "Scene": {
        _DERIVED: "objects frame_current_final",
        "settings of interactive tools": "tool_settings",
        _UI: "transform_orientation_slots show_keys_from_selected_only lock_frame_selection_to_range",
        "a tool's position, not content": "cursor",
        "frame_current and frame_subframe are hashed": "frame_float",
        _VIEW: "keying_sets_all",
    },
    "RenderSettings": {_VIEW: "stereo_views", _DERIVED: "file_extension frame_path"},
    "ImageFormatSettings": {READER: "linear_colorspace_settings"},
    "View3DShading": {
        "belongs to the preferences": "selected_studio_light",
        "of viewports only; a scene's has no valid value": "wireframe_color_type",
        _UI: "cycles",
    },
    "ViewLayer": {_DERIVED: "objects", _EVALUATED: "depsgraph", READER: "layer_collection"},
    "Modifier": {_SESSION: "persistent_uid", _EVALUATED: "execution_time"},
    "NodesModifier": {
        _EVALUATED: "node_warnings",
        _UI: "panels show_group_selector show_manage_panel",
        READER: "properties",
    },
    "NodesModifierBake": {_CACHE: "data_blocks", "the bake's id is hashed": "node"},
    "DecimateModifier": {_EVALUATED: "face_count"},
    "MultiresModifier": {_DERIVED: "total_levels"},
    "ClothModifier": {_EVALUATED: "hair_grid_min hair_grid_max hair_grid_resolution solver_result"},
    "FluidDomainSettings": {
        _EVALUATED: (
            "density_grid velocity_grid flame_grid color_grid heat_grid temperature_grid start_point cell_size "
            "domain_resolution"
        ),
        _CACHE: (
            "cache_frame_pause_data cache_frame_pause_guide cache_frame_pause_mesh cache_frame_pause_noise "
            "cache_frame_pause_particles"
        ),
    },
    "Constraint": {_EVALUATED: "error_location error_rotation"},
    "PointCache": {_CACHE: "info", _VIEW: "point_caches"},
    "PointCacheItem": {_CACHE: "info"},
    "ParticleSystem": {_EVALUATED: "particles child_particles dt_frac", READER: "cloth point_cache"},
    "DynamicPaintSurface": {READER: "point_cache"},
    "FieldSettings": {READER: "seed"},
    "ParticleSettings": {READER: "trail_count", "the name of the slot whose number is hashed": "material_slot"},
    "ParticleTarget": {_DERIVED: "name"},
    "ParticleDupliWeight": {_DERIVED: "name"},
    "PoseBone": {
        _EVALUATED: "matrix matrix_channel matrix_basis head tail length",
        _VIEW: "bone parent child motion_path",
    },
    "Pose": {"how motion paths are drawn": "animation_visualization", READER: "bones"},
    "Armature": {"exist only in edit mode": "edit_bones", _VIEW: "collections_all"},
    "Bone": {_DERIVED: "children matrix head tail length collections"},
    "BoneCollection": {_DERIVED: "index child_number parent"},
    "AnimData": {
        _DERIVED: "action_suitable_slots",
        "stored for assigning the action again": "last_slot_identifier",
        _SESSION: "action_slot_handle action_slot_handle_tweak_storage",
        READER: "drivers",
        _UI: "use_tweak_mode use_pin",
    },
    "Action": {_DERIVED: "curve_frame_range", READER: "fcurves"},
    "ActionSlot": {"a creation counter; the identifier is hashed": "handle", _DERIVED: "target_id_type_icon"},
    "ActionChannelbag": {"a creation counter; the slot's identifier is hashed": "slot_handle", READER: "fcurves"},
    "ActionGroup": {"each curve names its group": "channels", "a palette entry drawn in editors": "colors"},
    "ActionConstraint": {
        _DERIVED: "action_suitable_slots",
        _SESSION: "action_slot_handle",
        _UI: "last_slot_identifier",
    },
    "FCurve": {_EVALUATED: "is_valid"},
    "Keyframe": {_VIEW: "co_ui"},
    "Driver": {_EVALUATED: "is_valid"},
    "NlaStrip": {
        _DERIVED: "action_suitable_slots",
        _SESSION: "action_slot_handle",
        _UI: "last_slot_identifier",
        READER: "influence strip_time",
        _VIEW: "frame_start_ui frame_end_ui frame_start_raw frame_end_raw",
    },
    "NodeTree": {
        _UI: "view_center",
        READER: "nodes links interface",
        _CLASS: "type bl_label bl_description bl_icon bl_use_group_interface",
    },
    "Node": {
        _DERIVED: "location_absolute internal_links",
        "recomputed when the node is drawn": "height",
        "computed when the node is drawn": "dimensions",
        _UI: "show_preview panel_states textbox_state",
        READER: "inputs outputs",
        _CLASS: (
            "color_tag type bl_label bl_description bl_icon bl_static_type bl_width_default bl_width_min "
            "bl_width_max bl_height_default bl_height_min bl_height_max"
        ),
    },
    "CompositorNodeImage": {READER: "layer view"},
    "CompositorNodeCryptomatteV2": {READER: "layer view"},
    "GeometryNodeClosureInput": {
        "experimental in Blender 4.5, where reading it without a pair crashes": "paired_output",
    },
    "GeometryNodeMenuSwitch": {"the node itself": "enum_definition"},
    "NodeSocket": {
        _VIEW: "node",
        _DERIVED: "label description display_shape inferred_structure_type",
        _CLASS: "type link_limit bl_idname bl_label bl_subtype_label",
    },
    "NodeTreeInterfaceItem": {_DERIVED: "index position"},
    "NodeTreeInterfacePanel": {_VIEW: "interface_items"},
    "NodeTreeInterfaceSocket": {_CLASS: "bl_socket_idname"},
    **{item: {_DERIVED: "color"} for item in _SOCKET_ITEMS.split()},
    "Camera": {_DERIVED: "angle angle_x angle_y"},
    "Light": {_DERIVED: "temperature_color"},
    "Material": {_DERIVED: "texture_paint_images texture_paint_slots", _UI: "paint_active_slot paint_clone_slot"},
    "Image": {
        _FILE: "size channels depth frame_duration resolution",
        _VIEW: "pixels bindcode filepath_raw",
        "the format found in the file, or the format for the next save": "file_format",
        "the first of packed_files, which are hashed": "packed_file",
        "rendered results": "render_slots",
        _DERIVED: "type",
    },
    "UDIMTile": {_FILE: "size channels"},
    "ImageUser": {_UI: "multilayer_layer multilayer_pass multilayer_view"},
    "PackedFile": {_DERIVED: "size"},
    "Text": {
        READER: "lines",
        _UI: "current_line current_line_index current_character select_end_line select_end_line_index",
    },
    "Sound": {_FILE: "samplerate channels factory"},
    "MovieClip": {_FILE: "size fps frame_duration", _DERIVED: "source"},
    "MovieTracking": {_VIEW: "tracks plane_tracks reconstruction"},
    "MovieTrackingTrack": {_DERIVED: "bundle average_error"},
    "MovieTrackingMarker": {_DERIVED: "pattern_bound_box"},
    "MovieTrackingDopesheet": {_UI: "sort_method use_invert_sort show_hidden show_only_selected"},
    "CacheFile": {_FILE: "object_paths"},
    "Volume": {_FILE: "grids velocity_x_grid velocity_y_grid velocity_z_grid"},
    "Spline": {_DERIVED: "point_count_u point_count_v character_index"},
    "CurveProfile": {_DERIVED: "segments"},
    "KeyingSet": {_CLASS: "type_info"},
    "SequenceEditor": {
        _VIEW: "strips_all sequences_all sequences",
        _UI: "meta_stack",
        _CACHE: "cache_raw_size cache_final_size",
    },
    "Strip": {
        _DERIVED: (
            "frame_final_duration frame_final_start frame_final_end frame_duration "
            "duration content_duration content_end left_handle right_handle"  # their names from Blender 5.1 on
        ),
        _VIEW: "sequences",
    },
    "MetaStrip": {_VIEW: "sequences"},
    "MovieStrip": {_FILE: "fps"},
    "MovieClipStrip": {_FILE: "fps"},
    "SceneStrip": {_DERIVED: "fps"},
    "SequencerCompositorModifierData": {READER: "properties"},
}
# Type -> property -> reason for its exclusion.
EXCLUDED: Final[dict[str, dict[str, str]]] = {
    type_name: {name: reason for reason, names in reasons.items() for name in names.split()}
    for type_name, reasons in _BY_REASON.items()
}

# From Blender 4.4 an action has layers. These older properties repeat the first layer.
LEGACY_ACTION: Final[dict[str, str]] = {"groups": _VIEW, "id_root": _VIEW}

# Prefix of a geometry attribute's name -> reason for its exclusion.
EXCLUDED_ATTRIBUTES: Final[dict[str, str]] = {
    ".select_": _UI,
    ".selection": _UI,
    ".uv_select_": _UI,
    ".vs.": "selected vertices of a UV map, up to Blender 4.5",
    ".es.": "selected edges of a UV map, up to Blender 4.5",
    ".corner_edge": "follows from the corners' vertices and the edges",
}

# Structs that live in a named list elsewhere: a read-only pointer to one is a reference, not a part of its owner.
# (A writable pointer to a struct is a reference anyway: parts cannot be assigned.)
REFERENCED_STRUCTS: Final[frozenset[str]] = frozenset(
    {
        *("ActionSlot", "ActionGroup", "Bone", "BoneCollection", "EditBone", "FCurve", "GreasePencilLayer"),
        *("GreasePencilLayerGroup", "GreasePencilTreeNode", "LayerCollection", "Node", "NodeSocket"),
        *("NodeTreeInterfaceItem", "NodeTreeInterfacePanel", "ParticleSystem", "PoseBone", "ShapeKey"),
        *("Strip", "VertexGroup"),
    }
)

# Targets of writable pointers that are parts in spite of that rule.
OWNED_STRUCTS: Final[frozenset[str]] = frozenset({"AssetMetaData", "GreasePencilDrawing"})

# Lists whose items are references, as (type, property).
REFERENCE_LISTS: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        ("BoneCollection", "bones"),
        ("MovieTrackingStabilization", "tracks"),
        ("MovieTrackingStabilization", "rotation_tracks"),
    }
)

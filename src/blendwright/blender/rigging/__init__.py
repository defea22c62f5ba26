"""Operations on rigs that need Blender's modes and operators: bones in edit mode, weights by heat."""

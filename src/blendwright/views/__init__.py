"""Read-only views of a workspace: queries, pictures, exports and the live feed."""

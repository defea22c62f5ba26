"""Names in the journal and in the scene, and names that a plan leaves unresolved."""

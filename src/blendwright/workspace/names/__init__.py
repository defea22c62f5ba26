"""Which names exist: in the journal, in the scene, and which a plan leaves unresolved."""

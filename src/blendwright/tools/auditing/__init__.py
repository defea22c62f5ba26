"""Rules of `scene.audit`: each one checks parts of a scene and yields flaws with a measure and repairs."""

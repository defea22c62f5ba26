"""What `scene.audit` looks for: rules over parts of a scene, each of which yields flaws with a measure and a repair."""

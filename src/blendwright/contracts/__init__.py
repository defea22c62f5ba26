"""What is promised: the Tool base, effects, profiles and the ports between layers."""

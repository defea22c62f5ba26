"""Renders, bakes, images and videos of the Scene port."""

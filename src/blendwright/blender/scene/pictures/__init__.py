"""Renders, bakes, images and videos."""

"""Annotations for training data: instances, boxes and keypoints of what a camera sees. Reads only; `scene/annotating.py` renders."""

"""Annotations for training data: instances, boxes and keypoints in a camera's view. Only reads; `scene/annotating.py` renders."""

"""Data sets for training, written from annotated cases: COCO, BOP and WebDataset. Needs neither Blender nor NumPy."""

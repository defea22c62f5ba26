"""Training data sets in the formats COCO, BOP and WebDataset, written from annotated cases. Needs neither Blender nor NumPy."""

"""Detailed views of pictures: the object at each pixel, names in a picture, depth, masks, and comparison with another picture."""

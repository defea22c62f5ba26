"""Pictures that are looked at closer: what is seen where, names in a picture, depth, masks, and comparison with another picture."""

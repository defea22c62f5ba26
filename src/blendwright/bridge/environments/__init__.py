"""The Blenders that this user has for workers: which can be had, the environments that exist, and how they are made and removed."""

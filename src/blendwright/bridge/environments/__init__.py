"""The user's Blenders for workers: the available series, the existing environments, and their creation and removal."""

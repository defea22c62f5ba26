"""Folders of assets: what is in them, found by words, with pictures. Reads them only; what it found is kept in the user's cache."""

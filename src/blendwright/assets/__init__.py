"""A read-only index of asset folders that finds assets by words and shows their pictures. The index lives in the user's cache."""

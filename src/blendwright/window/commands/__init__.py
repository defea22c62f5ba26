"""The commands `attach`, `detach` and `extension`."""

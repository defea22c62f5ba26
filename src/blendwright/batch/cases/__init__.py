"""Cases of a batch and how one of them runs."""

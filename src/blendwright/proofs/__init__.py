"""Proofs of the audit chain: signed bundles that can be verified without the workspace."""

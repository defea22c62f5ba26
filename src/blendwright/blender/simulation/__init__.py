"""Simulations in a scene of their own, of which only numbers come back, and set-ups that stay."""

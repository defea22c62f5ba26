"""Simulations in a temporary scene that return only numbers, and set-ups that stay in the user's scene."""

"""Trials: what a model has to send and to read for a task, through the server and with bare Python, and whether the scene is right."""

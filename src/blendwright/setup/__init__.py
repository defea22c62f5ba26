"""Installed Blenders, the configuration of language-model hosts, and the checks of `doctor`."""

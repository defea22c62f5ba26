"""Workers that are forked from a process with Blender in it, where a test needs a worker and not its start.

A start of Blender takes a second of processor time, a fork less than a tenth of it, and the suite has hundreds of them. See
docs/decisions/0093-forked-workers-in-tests.md for what is the same as after a real start, what is not, and who needs a real one.
"""

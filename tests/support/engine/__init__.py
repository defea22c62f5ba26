"""The engine on real workers, with tools that misbehave on purpose."""

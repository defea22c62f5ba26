"""What a step wrote and how to take it back."""

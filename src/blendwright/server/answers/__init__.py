"""The text of answers, within the size budget of a model."""

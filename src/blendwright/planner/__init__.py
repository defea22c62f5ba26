"""Planning from a request in words: the port to language models, their prompts, and the reading of their answers."""

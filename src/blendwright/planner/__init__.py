"""From a request in words to a plan: the port to language models, what they are told, and what may come back."""

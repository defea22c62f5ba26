"""The two payloads that change a tree, as strict models. They are the arguments of the tools of the same names."""

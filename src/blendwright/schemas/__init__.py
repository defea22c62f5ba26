"""What shape a document has: the published JSON Schemas, and the check of a document against one."""

"""The published JSON Schemas, and the check of documents against schemas."""

"""A server under load for as long as one likes, and what becomes of its memory, descriptors, scratch and throughput."""

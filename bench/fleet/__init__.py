"""What a fleet costs its database: measured on a PostgreSQL of its own, and from that a simulation of a thousand machines."""

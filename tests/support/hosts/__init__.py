"""Clients and services around the program: MCP hosts, browsers, models."""

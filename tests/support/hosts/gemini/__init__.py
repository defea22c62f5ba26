"""Gemini's service for tests, on loopback: its REST protocol, scripted by scenarios, strict about what it is sent."""

from support.hosts.gemini.scenario import Scenario
from support.hosts.gemini.server import GeminiServer, serving

__all__ = ["GeminiServer", "Scenario", "serving"]

"""Gemini's service for tests, on loopback: its REST protocol, scripted by scenarios, strict about what it is sent."""

from gemini.scenario import Scenario
from gemini.server import GeminiServer, serving

__all__ = ["GeminiServer", "Scenario", "serving"]

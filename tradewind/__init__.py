"""Tradewind: cross-border purchasing behind one HTTP/JSON API."""

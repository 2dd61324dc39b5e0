"""The page about API keys."""

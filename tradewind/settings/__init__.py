"""Settings: read once at the edge, and passed on as plain values."""

"""The overview: what is going on, at a glance."""

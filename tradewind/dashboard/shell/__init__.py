"""The frame of every page: rendering, sessions, forms, labels, charts and live updates."""

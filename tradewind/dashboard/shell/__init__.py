"""What every page stands on: rendering, sessions, forms, labels, charts and live updates."""

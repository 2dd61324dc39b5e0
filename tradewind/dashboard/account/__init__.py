"""Pages about signing in and the own account."""

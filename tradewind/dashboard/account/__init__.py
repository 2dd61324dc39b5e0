"""Pages about signing in and the user's own account."""

"""Pages about logging in and one's own account."""

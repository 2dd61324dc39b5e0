"""Pages about payments that wait for approval."""

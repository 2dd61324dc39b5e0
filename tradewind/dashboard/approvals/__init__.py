"""Pages about payments that await approval."""

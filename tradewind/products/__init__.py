"""Products on marketplaces: search, and everything about one."""

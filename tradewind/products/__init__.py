"""Products on marketplaces: search and detail."""

"""Pages about products: search, and one product."""

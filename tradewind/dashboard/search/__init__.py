"""The search box, which takes any ID."""

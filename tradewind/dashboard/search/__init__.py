"""The search box: takes any id, and goes to its page."""

"""Pages about orders: the list, one order with its timeline, and its actions."""

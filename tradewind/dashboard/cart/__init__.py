"""Pages about the cart: its lines and their cost, and the orders that it became."""

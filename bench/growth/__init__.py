"""How cost grows with what is stored, and what capacity follows from it."""

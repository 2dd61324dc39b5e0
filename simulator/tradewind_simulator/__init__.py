"""A simulated marketplace in a process of its own, reached by HTTP as a real one is."""

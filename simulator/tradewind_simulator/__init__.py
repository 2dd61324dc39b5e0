"""A simulated marketplace that runs in a process of its own and is reached by HTTP."""

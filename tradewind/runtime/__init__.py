"""The processes: the API processes, their supervisor, the worker, and their wiring."""

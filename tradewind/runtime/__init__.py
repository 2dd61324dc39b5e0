"""The processes: the API, its parent, the worker, and the parts they are wired from."""

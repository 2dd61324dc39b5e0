"""Why the simulator cannot run; one sentence for the person who started it."""


class CannotRun(Exception):
    """The port, the state file or the options cannot be used."""

"""Detects a lack of file descriptors, so that it does not count as a failure of an endpoint."""

import errno
import os
from typing import Final

from tradewind.egress.result import Problem

# Errors that mean: no file descriptors or buffers left, in this process or on the machine.
_SCARCE: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
NONE_LEFT: Final = Problem(
    "out_of_descriptors",
    "Nothing was sent: this service could open no further connection.",
    is_ours=True,
)


def says_so(error: OSError) -> bool:
    return error.errno in _SCARCE


def are_left() -> bool:
    """Whether a descriptor is left. c-ares does not report this as the cause."""
    try:
        os.close(os.dup(2))
    except OSError as error:
        return not says_so(error)
    return True

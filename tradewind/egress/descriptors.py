"""Whether file descriptors are left: without one an attempt fails, and no endpoint is to blame."""

import errno
import os
from typing import Final

from tradewind.egress.result import Problem

# For the want of which no socket can be had, here or on the whole machine.
_SCARCE: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
NONE_LEFT: Final = Problem(
    "out_of_descriptors",
    "Nothing was sent: this service could open no further connection.",
    is_ours=True,
)


def says_so(error: OSError) -> bool:
    return error.errno in _SCARCE


def are_left() -> bool:
    """Whether there is one more now. Where libcurl and c-ares fail for it, they do not say so."""
    try:
        os.close(os.dup(2))
    except OSError as error:
        return not says_so(error)
    return True

"""`python -m tradewind_simulator` is the command `tradewind-simulator`."""

import sys

from tradewind_simulator.command import main

sys.exit(main())

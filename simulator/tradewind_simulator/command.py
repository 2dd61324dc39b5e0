"""The command `tradewind-simulator`: reads its options and runs the simulated marketplace."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import structlog

from tradewind_simulator.errors import CannotRun
from tradewind_simulator.run import DEFAULT_PORT, run

_ABOUT = """Run a simulated marketplace that speaks the 1688 and Taobao dialects.

Nothing in it is real: products, sellers, orders and money exist until it stops. Its control API is
at /_control, its credentials are public. Options not given here are read from the environment
variables TRADEWIND_SANDBOX_*."""


def parser(program: str = "tradewind-simulator") -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        prog=program, description=_ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    options.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help="port; 0 finds a free one (%(default)s)"
    )
    options.add_argument("--state", type=Path, help="file that keeps the state over a restart")
    options.add_argument("--seed", type=int, help="another number gives other products")
    options.add_argument("--speed", type=float, help="how fast time passes in the simulation")
    options.add_argument(
        "--notify-url", help="URL that notices are sent to; {app} stands for the app's name"
    )
    return options


def main(arguments: Sequence[str] | None = None, program: str = "tradewind-simulator") -> int:
    """Run until SIGTERM or SIGINT; return the exit status."""
    options = parser(program).parse_args(arguments)
    level = logging.getLevelNamesMapping().get(
        os.environ.get("TRADEWIND_LOG_LEVEL", "info").upper(), logging.INFO
    )
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        run(**vars(options))
    except CannotRun as error:
        print(error, file=sys.stderr)  # noqa: T201 - a command speaks to the terminal
        return 1
    return 0

"""`python -m tradewind` is the command `tradewind`."""

import gc

# Imports make many objects that stay, and with the default threshold a fifth of the start was
# spent on looking for garbage among them.
gc.set_threshold(50_000)


def main() -> None:
    # Not at the top: each process of the API imports this file, and needs no commands.
    from tradewind.cli.main import main as run_command  # noqa: PLC0415

    run_command()


if __name__ == "__main__":
    main()

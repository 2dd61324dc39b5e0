"""`python -m tradewind` is the command `tradewind`."""

from tradewind.cli.main import main

if __name__ == "__main__":
    main()

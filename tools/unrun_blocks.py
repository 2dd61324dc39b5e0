"""Lists the code blocks of the documentation that no test has run since the last `make test`."""

import sys

from kit.blocks import not_run


def main() -> int:
    missing = not_run()
    for block in missing:
        print(f"{block.page}:{block.line}: no test has run this block.")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

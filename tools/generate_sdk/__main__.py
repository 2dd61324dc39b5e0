"""Writes the generated files of sdk/node and sdk/go; with --check it only compares them."""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.generate_sdk import go, node
from tools.generate_sdk.document import Document

_MAKERS: Mapping[str, Callable[[Document, Path], dict[Path, str]]] = {
    "go": go.files,
    "node": node.files,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*", help=f"{', '.join(_MAKERS)}; all by default")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args()
    document = Document()
    texts: dict[Path, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        openapi = Path(folder) / "openapi.json"
        openapi.write_text(json.dumps(document.whole), encoding="utf-8")
        for language in options.languages or _MAKERS:
            texts |= _MAKERS[language](document, openapi)
    outdated = [path for path, text in texts.items() if not _holds(path, text)]
    if options.check:
        for path in outdated:
            print(f"{path.name} does not match the code; run: make client", file=sys.stderr)
        return 1 if outdated else 0
    for path in outdated:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path], encoding="utf-8")
        print(f"Wrote {path.name}.")
    return 0


def _holds(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())

"""The result of a drill: lines in build/drills, which `make test` prints at its end."""

from collections.abc import Mapping

from kit.blocks import ROOT

FOLDER = ROOT / "build" / "drills"


def write(name: str, title: str, figures: Mapping[str, object]) -> str:
    """Save and return the figures of a drill, aligned."""
    width = max(map(len, figures))
    lines = [title, *(f"  {label:<{width}}  {value}" for label, value in figures.items())]
    text = "\n".join(lines) + "\n"
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
    return text

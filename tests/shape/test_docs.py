"""The documentation matches the code: settings, links and decisions."""

import re
from pathlib import Path

from tradewind.settings.settings import PLATFORM_FIELDS, SETTINGS

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md")]
DECISIONS = sorted((ROOT / "docs/decisions").glob("*.md"))
STATUS = re.compile(
    r"^Status: (accepted\b|superseded by \[\d+\]\(\d{4}-[a-z0-9-]+\.md\))", re.MULTILINE
)


def test_every_setting_is_described() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text()

    described = set(re.findall(r"^\| `(TRADEWIND_\w+)`", page, re.MULTILINE))
    assert described == {setting.variable for setting in SETTINGS}
    for field, (_, about) in PLATFORM_FIELDS.items():
        assert f"| `TRADEWIND_PLATFORM_…_{field.upper()}` | {about} |" in page
    for setting in SETTINGS:
        assert setting.about in page, setting.variable
        assert not setting.default or f"`{setting.default}`" in page, setting.variable


def test_every_link_to_a_file_works() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_every_decision_is_listed_and_has_a_status() -> None:
    index = (ROOT / "docs/README.md").read_text()

    assert [page.name for page in DECISIONS if f"decisions/{page.name}" not in index] == []
    assert [page.name for page in DECISIONS if not STATUS.search(page.read_text())] == []

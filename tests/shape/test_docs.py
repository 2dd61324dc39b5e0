"""The documentation is in step with the code: settings, commands, links."""

import re
from pathlib import Path

import pytest

from tradewind.settings.settings import KNOWN, PLATFORM_FIELDS

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def test_every_setting_is_described_as_it_is() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text()

    described = set(re.findall(r"^\| `(TRADEWIND_\w+)`", page, re.MULTILINE))
    assert described == {setting.variable for setting in KNOWN}
    for field, (_, about) in PLATFORM_FIELDS.items():
        assert f"| `TRADEWIND_PLATFORM_…_{field.upper()}` | {about} |" in page
    for setting in KNOWN:
        assert setting.about in page, setting.variable
        assert not setting.default or f"`{setting.default}`" in page, setting.variable


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text())

    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


def test_every_decision_is_listed() -> None:
    index = (ROOT / "docs/README.md").read_text()

    for page in (ROOT / "docs/decisions").glob("*.md"):
        assert f"decisions/{page.name}" in index

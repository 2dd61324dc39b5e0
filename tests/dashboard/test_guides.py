"""The guides: every page of docs/ is served, its links work, and programs get Markdown."""

import re
from pathlib import Path

import pytest
from kit.server import Server

from tradewind.dashboard.guides.library import DOCS, IMAGE_TYPES, Guide, Guides
from tradewind.dashboard.guides.routes import _rendered
from tradewind.dashboard.guides.views import render

GUIDES = Guides()
ALL = [guide for section in GUIDES.sections for guide in section.guides]


def test_every_page_of_the_docs_is_a_guide_but_decisions() -> None:
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.glob("*/*.md")}

    assert {guide.path for guide in ALL} == {
        path for path in pages if not path.startswith("decisions/")
    }
    assert len({guide.path for guide in ALL}) == len(ALL), "each is listed once"
    assert all(guide.title and guide.summary for guide in ALL)


def test_every_link_between_guides_leads_to_a_guide_and_a_heading() -> None:
    html = {f"/guides/{guide.path}": render(guide, GUIDES.url).html for guide in ALL}

    broken = [
        f"{page}: {path}#{anchor}"
        for page, text in html.items()
        for path, anchor in re.findall(r'href="(/guides/[^"#]*|)(?:#([^"]*))?"', text)
        if (path or page) not in html
        or (anchor and f'id="{anchor}"' not in html.get(path or page, ""))
    ]
    assert broken == []


def test_links_outside_the_guides_and_raw_html_are_text() -> None:
    markdown = "# Title\n\n<script>x</script> [code](../../Makefile) ![a](x.png)\n\n```\n<b>\n```\n"
    guide = Guide("how-to/x", "Title", "", markdown)

    html = render(guide, lambda _path: None).html

    assert "<script" not in html
    assert "<b>" not in html
    assert "Makefile" not in html
    assert "x.png" not in html


def test_the_markers_of_written_parts_are_not_shown() -> None:
    shown = "".join(render(guide, GUIDES.url).html for guide in ALL)

    assert any("<!-- begin " in guide.markdown for guide in ALL)
    assert "&lt;!--" not in shown


def test_pictures_and_plots_are_served_and_other_files_are_not(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for name in ("page.png", "plot.svg", "notes.txt"):
        (tmp_path / "images" / name).write_text(name)

    guides = Guides(tmp_path)

    assert guides.url("images/plot.svg") == "/guides/images/plot.svg"
    assert guides.image("images/page.png") == b"page.png"
    assert guides.image("images/notes.txt") is None
    assert {suffix: kind.decode() for suffix, kind in IMAGE_TYPES.items()} == {
        ".png": "image/png",
        ".svg": "image/svg+xml",
    }


def test_an_installation_without_docs_has_no_guides(tmp_path: Path) -> None:
    guides = Guides(tmp_path)

    assert guides.sections == []
    assert guides.find("how-to/deploy") is None


def test_guides_are_served_as_pages_and_as_markdown(api: Server) -> None:
    index = api.call("GET", "/guides").text
    for guide in ALL:
        assert f'href="/guides/{guide.path}"' in index
        page = api.call("GET", f"/guides/{guide.path}")
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "default-src 'none'" in page.headers["content-security-policy"]
    markdown = api.call("GET", "/guides/how-to/deploy.md")
    image = api.call("GET", "/guides/images/overview-wide-light.png")
    programs = api.call("GET", "/llms.txt")

    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert markdown.text == (DOCS / "how-to/deploy.md").read_text()
    assert image.headers["content-type"] == "image/png"
    assert f"]({api.url}/guides/how-to/deploy.md)" in programs.text
    assert all(f"/guides/{guide.path}.md)" in programs.text for guide in ALL)


@pytest.mark.parametrize(
    "path",
    [
        "/guides/how-to/nothing",
        "/guides/decisions/0001-typed-endpoints-of-our-own-on-granian",
        "/guides/images/nothing.png",
        "/guides/..%2F..%2Fetc/passwd",
    ],
)
def test_anything_else_is_not_found(api: Server, path: str) -> None:
    answer = api.call("GET", path)

    assert (answer.status_code, answer.json()["code"]) == (404, "route_not_found")


def test_a_guide_is_rendered_once() -> None:
    assert _rendered(GUIDES, ALL[0]) is _rendered(GUIDES, ALL[0])
    assert _rendered(GUIDES, ALL[1]) is not _rendered(GUIDES, ALL[0])

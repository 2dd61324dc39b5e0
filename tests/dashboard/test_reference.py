"""The API reference: every operation, as a page and as Markdown, with samples that are code."""

import ast
import re
import shlex
from pathlib import Path

import pytest
from kit.sdk_examples import GO_OFFLINE, NODE_MODULES, go_module, node_project, run
from kit.server import Server
from kit.toolchains import need_toolchain

from tradewind.dashboard.reference.model import ApiReference, ReferenceOperation
from tradewind.dashboard.reference.samples import sdk_method
from tradewind.dashboard.reference.views import CAUSED_EVENTS, api_reference
from tradewind.events.event_types import EVENT_TYPES
from tradewind.runtime.api import reference
from tradewind.web import problems


@pytest.fixture(scope="module")
def shown() -> ApiReference:
    return api_reference(reference(), "http://127.0.0.1:8000")


def operations(shown: ApiReference) -> dict[str, ReferenceOperation]:
    return {each.id: each for page in shown.pages for each in page.operations}


def test_every_operation_has_a_place_on_a_page_and_in_markdown(
    api: Server, shown: ApiReference
) -> None:
    index = api.client.get("/docs").text
    programs = api.client.get("/llms.txt").text
    for page in shown.pages:
        html = api.client.get(f"/docs/{page.slug}")
        text = api.client.get(f"/docs/{page.slug}.md")
        assert html.headers["content-type"].startswith("text/html")
        assert text.headers["content-type"] == "text/markdown; charset=utf-8"
        for operation in page.operations:
            link = f"/docs/{page.slug}#{operation.id}"
            assert link in index
            assert f'id="{operation.id}"' in html.text
            assert f"`{operation.method} {operation.path}`" in text.text
            for error in operation.errors:
                assert f"/problems/{error.code}" in html.text
        assert f"]({api.url}/docs/{page.slug}.md)" in programs
    for path in ("/docs/event-types", "/docs/event-types.md", "/docs/errors", "/docs/errors.md"):
        assert api.client.get(path).status_code == 200
    slugs = [page.slug for page in shown.pages]
    assert len({*slugs, "index", "errors", "event-types"}) == len(slugs) + 3
    assert len(operations(shown)) == sum(len(path) for path in reference()["paths"].values())


def test_a_page_is_rendered_once_for_each_theme(api: Server) -> None:
    """Whatever else a browser sends does not make another copy, and nobody gets another's."""
    plain = api.client.get("/docs/webhooks")
    dark = api.client.get("/docs/webhooks", headers={"cookie": "tradewind_theme=dark"})
    other = api.client.get("/docs/webhooks", headers={"cookie": "tradewind_theme=<script>"})

    assert plain.text == other.text == api.client.get("/docs/webhooks?x=1").text
    assert dark.text == plain.text.replace('lang="en"', 'lang="en" data-theme="dark"')
    assert plain.headers["x-request-id"] != other.headers["x-request-id"]


def test_pages_run_no_inline_code_and_load_nothing_from_elsewhere(api: Server) -> None:
    for path in ("/docs", "/docs/webhooks", "/docs/event-types"):
        answer = api.client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "unsafe" not in policy
        assert not re.findall(r"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|<style", answer.text)
        addresses = re.findall(r'(?:src|href)="([^"#]*)', answer.text)
        assert all(address.startswith("/") or not address for address in addresses)


def test_every_link_within_the_reference_leads_somewhere(api: Server, shown: ApiReference) -> None:
    paths = ["/docs", "/docs/event-types", "/docs/errors"]
    paths += [f"/docs/{page.slug}" for page in shown.pages]
    pages = {path: api.client.get(path).text for path in paths}

    broken = {
        (path, target, anchor)
        for path, text in pages.items()
        for target, anchor in re.findall(r'href="(/docs[a-z0-9/-]*|)(?:#([^"]+))?"', text)
        if (target or path) not in pages
        or (anchor and f'id="{anchor}"' not in pages[target or path])
    }
    assert broken == set()


@pytest.mark.parametrize(
    "path",
    [
        "/docs/nowhere", "/docs/nowhere.md", "/docs/orders.md.md", "/docs/.md", "/docs/orders.mdx",
        "/docs/..%2Fetc%2Fpasswd", "/docs/%3Cscript%3E", "/docs/swagger-ui.css", "/docs/start.js",
    ],
)  # fmt: skip
def test_what_is_no_page_is_not_found(api: Server, path: str) -> None:
    answer = api.client.get(path)

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_errors_and_events_that_operations_name_exist(shown: ApiReference) -> None:
    causes = {(kind.name, cause.name) for kind in EVENT_TYPES for cause in kind.causes}
    known = operations(shown)

    assert set(CAUSED_EVENTS) <= set(known)
    links = {(link.event, link.cause) for each in CAUSED_EVENTS.values() for link in each}
    assert links <= causes
    assert {error.code for each in known.values() for error in each.errors} <= set(
        problems.catalogue()
    )


def test_samples_are_code_in_their_language(shown: ApiReference) -> None:
    for operation in operations(shown).values():
        ast.parse(operation.samples["Python"])
        command, *words = shlex.split(operation.samples["curl"])
        assert command == "curl"
        assert any(word.startswith("http://127.0.0.1:8000/") for word in words)
        for language, code in operation.samples.items():
            names_key = "TRADEWIND_API_KEY" in code
            assert operation.needs_credentials == names_key, (operation.id, language)


def test_node_samples_fit_the_types_of_the_sdk(shown: ApiReference, tmp_path: Path) -> None:
    """One run of the compiler checks all of them."""
    need_toolchain("node")
    modules = node_project(tmp_path)
    for name in ("@types", "undici-types"):
        (modules / name).symlink_to(NODE_MODULES / name)
    for operation in operations(shown).values():
        (tmp_path / f"{operation.id}.js").write_text(operation.samples["Node"])
    options = ("--allowJs", "--checkJs", "--noEmit", "--strict", "--exactOptionalPropertyTypes")
    shape = ("--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--types", "node")

    files = sorted(path.name for path in tmp_path.glob("*.js"))
    done = run(NODE_MODULES / ".bin" / "tsc", *options, *shape, *files, cwd=tmp_path)

    assert done.returncode == 0, done.stdout


def test_go_samples_compile_with_the_sdk(shown: ApiReference, tmp_path: Path) -> None:
    """All of them are one package, since many programs take long."""
    need_toolchain("go")
    go_module(tmp_path)
    for operation in operations(shown).values():
        code = operation.samples["Go"]
        assert code.startswith("package main\n")
        code = code.replace("package main\n", "package samples\n", 1)
        code = code.replace("func main()", f"func sample_{operation.id}()", 1)
        (tmp_path / f"{operation.id}_sample.go").write_text(f"{code}\n")

    done = run("go", "vet", ".", cwd=tmp_path, environ=GO_OFFLINE)
    formatted = run("gofmt", "-l", ".", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert formatted.stdout == ""


def test_python_samples_call_the_methods_of_the_sdk(shown: ApiReference) -> None:
    methods = pytest.importorskip("tradewind_sdk.client.generated.operations").METHODS

    named = {each.id: sdk_method(each.id, each.path) for each in operations(shown).values()}
    assert named == methods


def test_fields_tell_their_limits_and_what_is_inside_of_them(shown: ApiReference) -> None:
    create = operations(shown)["create_order"]
    fields = {field.name: field for field in create.body_fields}

    assert fields["items"].is_required
    assert fields["items"].limits == ["1 to 200 items"]
    assert {field.name for field in fields["items"].fields} >= {"product_id", "quantity"}
    assert fields["remark"].kind == "text or null"
    assert [link.event for link in create.events] == ["order.updated"]
    assert [field.name for field in create.header_parameters] == ["Idempotency-Key"]
    assert [response.status for response in create.responses] == ["201"]
    assert "insufficient_permissions" in {error.code for error in create.errors}


def test_a_stream_cannot_be_tried(shown: ApiReference) -> None:
    streams = [each.id for page in shown.pages for each in page.operations if each.is_stream]

    assert streams == ["stream_events"]

"""No code block of the documentation is without a test that runs it."""

from kit.blocks import ROOT, blocks

# Which test runs the blocks of a page. Each test says itself how.
RUN_BY = {
    "README.md": "tests/dev/test_readme.py",
    "docs/tutorials/first-webhook.md": "tests/dev/test_readme.py",
    "docs/how-to/add-a-marketplace.md": "tests/connectors/test_adding_a_marketplace.py",
    "docs/how-to/deploy.md": "tests/docs/test_deploy_page.py",
    "docs/how-to/generate-a-client.md": "tests/docs/test_samples.py",
    "docs/how-to/let-an-agent-buy.md": "tests/agents/test_mcp.py",
    "docs/how-to/move-from-polling.md": "tests/docs/test_polling_page.py",
    "docs/how-to/receive-webhooks.md": "tests/sdk/python/test_page.py",
    "docs/how-to/receive-webhooks-on-a-laptop.md": "tests/docs/test_laptop_page.py",
    "docs/how-to/test-your-integration.md": "tests/docs/test_integration_page.py",
    "docs/reference/addresses.md": "tests/docs/test_samples.py",
    "docs/reference/cart.md": "tests/docs/test_samples.py",
    "docs/reference/events.md": "tests/docs/test_events_page.py",
    "docs/reference/exports.md": "tests/docs/test_samples.py",
    "docs/reference/imports.md": "tests/docs/test_samples.py",
    "docs/reference/orders.md": "tests/docs/test_samples.py",
    "docs/reference/requests.md": "tests/docs/test_samples.py",
    "sdk/README.md": "tests/sdk/test_check.py",
    "sdk/go/README.md": "tests/sdk/test_go_kit.py",
    "sdk/java/README.md": "tests/sdk/test_kit_readmes.py",
    "sdk/node/README.md": "tests/sdk/test_node_kit.py",
    "sdk/php/README.md": "tests/sdk/test_kit_readmes.py",
    "sdk/python/README.md": "tests/sdk/python/test_python_readme.py",
}
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "sdk").rglob("README.md")]


def test_every_page_with_code_has_a_test_that_reads_it() -> None:
    with_code = {
        page
        for path in PAGES
        if "node_modules" not in path.parts
        if blocks(page := str(path.relative_to(ROOT)))
    }

    assert with_code == set(RUN_BY)
    assert {
        page: test
        for page, test in RUN_BY.items()
        if page.rpartition("/")[2] not in (ROOT / test).read_text()
    } == {}

"""The API reference at /docs: pages and Markdown, rendered from the OpenAPI document."""

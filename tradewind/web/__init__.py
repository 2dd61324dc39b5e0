"""The HTTP layer: endpoints, inputs, problems, paging, idempotency, limits, OpenAPI, health."""

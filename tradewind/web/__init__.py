"""The HTTP kit: endpoints, inputs, problems, paging, idempotency, limits, OpenAPI, health."""

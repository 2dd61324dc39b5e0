"""Written by `make client` from the OpenAPI document: do not edit."""

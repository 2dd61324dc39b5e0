"""Writes the parts of the kits in sdk/node and sdk/go that follow from the OpenAPI document."""

"""Writes the parts of the SDKs in sdk/node and sdk/go that follow from the OpenAPI document."""

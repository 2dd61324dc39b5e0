"""The public URL of this service."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """The base of every URL in responses and links, without a slash at its end."""

    text: str

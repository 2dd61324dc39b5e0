"""Where this service is reached from outside."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """The base of every URL that we hand out, without a slash at its end."""

    text: str

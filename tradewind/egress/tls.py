"""TLS for all calls: whose certificates are trusted, and which protocols are offered."""

import ssl
from typing import Final

import certifi

# How long the end of a connection waits for the other side.
SHUTDOWN_SECONDS: Final = 1.0


def tls_context(authorities: str | None = None) -> ssl.SSLContext:
    """TLS that checks certificates and names, and offers only HTTP/1.1.

    `authorities` is a file of certificates to trust in place of the system's. A system without a
    file of its own trusts those of certifi.
    """
    trusted = authorities or ssl.get_default_verify_paths().cafile or certifi.where()
    context = ssl.create_default_context(cafile=trusted)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context

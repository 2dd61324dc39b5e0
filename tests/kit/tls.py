"""A TLS context for clients that speak plain HTTP, so that they do not read all certificates."""

import ssl

# A client without a context of its own reads every certificate there is, when it is made.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

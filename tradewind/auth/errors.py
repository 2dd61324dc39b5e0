"""What can be refused at the gate."""

from tradewind.errors import Conflict, Unauthenticated


class CredentialsMissing(Unauthenticated):
    """Every endpoint needs credentials: an API key, or the access token of a login.

    Send `x-api-key: twk_…` or `Authorization: Bearer …`.
    """

    code = "credentials_missing"
    title = "Credentials are missing"

    def __init__(self) -> None:
        super().__init__("Send an x-api-key header, or Authorization: Bearer with a token.")


class InvalidCredentials(Unauthenticated):
    """The API key or the access token is wrong, expired or revoked.

    A key that is `mistyped` fails its own checksum: it was cut off or changed on its way. With
    both headers at once, both must be valid and belong to the same account.
    """

    code = "invalid_credentials"
    title = "The credentials are not valid"

    @classmethod
    def mistyped(cls) -> "InvalidCredentials":
        return cls("This API key is mistyped or cut off: its checksum does not match.")

    @classmethod
    def unknown_key(cls) -> "InvalidCredentials":
        return cls("This API key is unknown or revoked.")

    @classmethod
    def malformed_header(cls) -> "InvalidCredentials":
        return cls("The Authorization header must read: Bearer, a blank, and the access token.")

    @classmethod
    def token(cls) -> "InvalidCredentials":
        return cls("This access token is wrong, has expired, or its session has ended.")

    @classmethod
    def both(cls) -> "InvalidCredentials":
        return cls("API key and access token must both be valid and of the same account.")


class KeyLimitReached(Conflict):
    """An account may have 100 keys that are not revoked. Revoke one that is not used."""

    code = "key_limit_reached"
    title = "Too many API keys"

    def __init__(self, most: int) -> None:
        super().__init__(f"An account may have {most} API keys; revoke one first.")

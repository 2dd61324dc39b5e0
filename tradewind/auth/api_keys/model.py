"""What an API key is, once it was shown."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret."""

    id: UUID
    account_id: UUID
    name: str
    prefix: str
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None

    @staticmethod
    def of(row: Any) -> "ApiKey":
        return ApiKey(**dict(row))

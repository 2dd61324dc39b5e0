"""A finding of `tradewind doctor`: one check, its result, and what to do."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One check, its result, and what to do."""

    check: str
    result: Literal["ok", "warning", "failed"]
    detail: str

    @classmethod
    def when(
        cls,
        fine: bool,
        check: str,
        detail: str,
        advice: str,
        otherwise: Literal["warning", "failed"] = "failed",
    ) -> "Finding":
        """Return `ok` with the detail, or `otherwise` with the detail and what to do."""
        if fine:
            return cls(check, "ok", f"{detail}.")
        return cls(check, otherwise, f"{detail}; {advice}")

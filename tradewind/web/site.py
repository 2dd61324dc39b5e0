"""Pages for people: who opens them, whether a form is ours, and what an error looks like."""

from typing import Protocol

from tradewind.errors import ApiError, Forbidden
from tradewind.web.caller import Caller
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import Response


class Form(Input):
    """What a form of a page sends. Every POST of a page takes a struct that derives from this."""

    csrf: str = ""


class Site(Protocol):
    """What the pages of an application have in common, as `Gate` is for its API."""

    async def enter(self, request: Request) -> Caller:
        """Who opens the page, by the session cookie alone; an error when there is no session."""
        ...

    def check_form(self, request: Request, caller: Caller | None, form: Form) -> None:
        """Reject a form that another site sent. `caller` is None where a page asks for none."""
        ...

    async def error_page(self, error: ApiError, request: Request) -> Response:
        """The page that shows an error, or a redirect to one that helps."""
        ...


class ForgedForm(Forbidden):
    """The form did not come from a page of this site, or from one of another session.

    Open the page anew, and send it from there.
    """

    code = "forged_form"
    title = "This form cannot be taken"

    def __init__(self) -> None:
        super().__init__(
            "The form was not sent from a page of this session. Nothing was changed: open the "
            "page again, and send it from there."
        )

"""What the web layer needs from a site of pages: sessions, CSRF checks and error pages."""

from typing import Protocol

from tradewind.errors import ApiError, Forbidden
from tradewind.web.caller import Caller
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import Response


class Form(Input):
    """The body of a form. Every POST of a page takes a struct that derives from this."""

    csrf: str = ""


class Site(Protocol):
    """Authentication and error pages of the dashboard, as `Gate` is for the API."""

    async def enter(self, request: Request) -> Caller:
        """Who opens the page, by the session cookie alone; an error when there is no session."""
        ...

    async def recheck(self, request: Request) -> Caller:
        """Who opened the page, for a response that takes long; an error if the session ended."""
        ...

    def check_form(self, request: Request, caller: Caller | None, form: Form) -> None:
        """Reject a form that another site sent. `caller` is None where a page asks for none."""
        ...

    async def error_page(self, error: ApiError, request: Request) -> Response:
        """The page that shows an error, or a redirect to one that helps."""
        ...


class ForgedForm(Forbidden):
    """The form was not sent from a page of this site in this session.

    Reload the page, and send the form again.
    """

    code = "forged_form"
    title = "The form was not accepted"
    detail = (
        "The form was not sent from a page of this session, and nothing was changed. Reload "
        "the page, and send the form again."
    )

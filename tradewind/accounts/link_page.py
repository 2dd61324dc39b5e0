"""The page behind a password link: choose a password, once."""

from html import escape

from tradewind.accounts import change_password
from tradewind.accounts.errors import PasswordLinkSpent
from tradewind.accounts.passwords import MINIMUM, Passwords
from tradewind.accounts.wire import LinkForm, LinkQuery
from tradewind.audit.model import Actor
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import pages
from tradewind.web.answer import Answer
from tradewind.web.endpoint import Routes
from tradewind.web.request import Request

routes = Routes("/password", tag="Account", hidden=True)


@routes.get(media_type="text/html")
async def show_password_form(query: LinkQuery, db: Database, keyring: Keyring) -> Answer:
    """Ask for the new password, twice."""
    try:
        await change_password.check_link(db, keyring, query.token)
    except PasswordLinkSpent as spent:
        return pages.page(spent.title, pages.paragraphs(spent.detail), status=410)
    return _form(query.token)


@routes.post(media_type="text/html", form=True)
async def choose_password(
    request: Request, body: LinkForm, db: Database, keyring: Keyring, passwords: Passwords
) -> Answer:
    """Set the password, or say what is wrong with it and ask again."""
    if body.password != body.again:
        return _form(body.token, "The two passwords are not the same.")
    if len(body.password) < MINIMUM:
        return _form(body.token, f"A password has at least {MINIMUM} characters.")
    by = Actor.stranger("password link", request)
    try:
        await change_password.use_link(
            db, keyring, passwords, by, token=body.token, new=body.password
        )
    except PasswordLinkSpent as spent:
        return pages.page(spent.title, pages.paragraphs(spent.detail), status=410)
    return pages.page(
        "Your password is set", "<p>You can sign in with it now. This link no longer works.</p>"
    )


def _form(token: str, wrong: str | None = None) -> Answer:
    complaint = f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""
    return pages.page(
        "Choose a password",
        f'{complaint}<form method="post" action="/password">'
        f'<input type="hidden" name="token" value="{escape(token)}">'
        f'<label><span>New password</span><input type="password" name="password" required '
        f'minlength="{MINIMUM}" autocomplete="new-password" autofocus></label>'
        '<label><span>The same again</span><input type="password" name="again" required '
        'autocomplete="new-password"></label><button>Set password</button></form>',
        status=422 if wrong else 200,
    )

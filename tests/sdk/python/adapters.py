"""Applications that receive webhooks with every adapter of the SDK, one path for each."""

import json
import os
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.urls import path
from fastapi import FastAPI
from flask import Flask
from tradewind_sdk.webhooks import Event
from tradewind_sdk.webhooks.asgi import WebhookASGIApp
from tradewind_sdk.webhooks.django import webhook_view as django_view
from tradewind_sdk.webhooks.fastapi import webhook_endpoint
from tradewind_sdk.webhooks.flask import webhook_view as flask_view
from tradewind_sdk.webhooks.wsgi import WebhookWSGIApp

SECRETS: dict[str, str] = json.loads(os.environ["SECRETS"])
HANDLED = Path(os.environ["HANDLED"])
FAILS = "evt_fails"


def handler(kind: str) -> Callable[[Event], None]:
    def handle(event: Event) -> None:
        with HANDLED.open("a") as file:
            file.write(f"{kind} {event.id}\n")
        if event.id == FAILS:
            raise RuntimeError("The handler fails.")

    return handle


def async_handler(kind: str) -> Callable[[Event], Awaitable[None]]:
    handle = handler(kind)

    async def handle_async(event: Event) -> None:
        handle(event)

    return handle_async


settings.configure(
    ALLOWED_HOSTS=["*"],
    MIDDLEWARE=[
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
    ],
    ROOT_URLCONF=__name__,
    SECRET_KEY="not a secret",
)
django.setup(set_prefix=False)
urlpatterns = [
    path("django", django_view(SECRETS["django"], handler("django"))),
    path("django-async", django_view(SECRETS["django-async"], async_handler("django-async"))),
]

flask_app = Flask(__name__)
flask_app.add_url_rule(
    "/flask", view_func=flask_view(SECRETS["flask"], handler("flask")), methods=["POST"]
)
plain_wsgi = WebhookWSGIApp(SECRETS["wsgi"], handler("wsgi"))
django_wsgi = get_wsgi_application()


def wsgi(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Let the adapter decide that the path names."""
    apps = {"/wsgi": plain_wsgi, "/flask": flask_app, "/django": django_wsgi}
    body: Iterable[bytes] = apps[environ["PATH_INFO"]](environ, start_response)
    return body


fastapi_app = FastAPI()
fastapi_app.post("/fastapi")(webhook_endpoint(SECRETS["fastapi"], handler("fastapi")))
plain_asgi = WebhookASGIApp(SECRETS["asgi"], async_handler("asgi"))
django_asgi = get_asgi_application()


async def asgi(scope: Any, receive: Any, send: Any) -> None:
    """Let the adapter decide that the path names."""
    apps = {"/fastapi": fastapi_app, "/django-async": django_asgi}
    await apps.get(scope.get("path"), plain_asgi)(scope, receive, send)

"""Every operation of the API as a method; calls that wait for their responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal

from tradewind_sdk.client.call import (
    OMITTED,
    Call,
    Omitted,
    headers_of,
    idempotent,
    json_of,
    optional_json_of,
    path_of,
    query_of,
)
from tradewind_sdk.client.generated import types
from tradewind_sdk.client.paging import Paginator
from tradewind_sdk.client.sse import ServerSentEvent
from tradewind_sdk.client.transport import Transport


class Auth:
    """The operations of `client.auth`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def login(self, *, email: str, password: str) -> types.Tokens:
        """Log in with e-mail and password

        The access token is valid for 90 days: cache it, and send it as `Authorization: Bearer
        …`. Credentials sent along are ignored. 30 logins a minute are tried from one address
        (429); ten failures within 15 minutes stop logins for that e-mail for 15 minutes (403).
        """
        _parsed: types.Tokens = self._transport.json(
            Call("POST", "/v1/auth/login", content=json_of(email=email, password=password))
        )
        return _parsed

    def refresh(self, *, refresh_token: str) -> types.Tokens:
        """Exchange a refresh token for a new pair

        A refresh token works once. The one before it gets the same new pair for another 60
        seconds, in case the response was lost; any older one ends the whole session.
        """
        _parsed: types.Tokens = self._transport.json(
            Call("POST", "/v1/auth/refresh", content=json_of(refresh_token=refresh_token))
        )
        return _parsed

    def logout(self) -> None:
        """End the session of the access token that you send

        From this response on no process accepts its tokens. An API key has no session (422).

        Scope: any.
        """
        self._transport.json(Call("POST", "/v1/auth/logout"))


class Me:
    """The operations of `client.me`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> types.Me:
        """The account behind the credentials: roles, plan, and what is left of its rate budget

        Scope: any.
        """
        _parsed: types.Me = self._transport.json(Call("GET", "/v1/me"))
        return _parsed

    def change_password(self, *, current_password: str, new_password: str) -> None:
        """Change your password

        Every session of the account ends, this one included: log in again with the new
        password. API keys continue to work. Wrong passwords count as failed logins (403 after
        ten).

        Not for API keys with scopes.
        """
        self._transport.json(
            Call(
                "POST",
                "/v1/me/password",
                content=json_of(current_password=current_password, new_password=new_password),
            )
        )


class ApiKeys:
    """The operations of `client.api_keys`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Paginator[types.Key, types.KeyPage]:
        """List your API keys, newest first, the revoked ones included

        Not for API keys with scopes.
        """

        def fetch(page_cursor: str | None) -> types.KeyPage:
            _parsed: types.KeyPage = self._transport.json(
                Call("GET", "/v1/api-keys", query=query_of(limit=limit, cursor=page_cursor))
            )
            return _parsed

        return Paginator(fetch, cursor)

    def create(
        self,
        *,
        name: str,
        scopes: Sequence[types.Scope] | None | Omitted = OMITTED,
        expires_at: str | datetime | None | Omitted = OMITTED,
        allowed_cidrs: Sequence[str] | None | Omitted = OMITTED,
    ) -> types.NewKey:
        """Create an API key. Only this response contains the key itself

        A key can do what its account can, unless it is restricted: to `scopes`, to the time
        before `expires_at`, or to the networks in `allowed_cidrs`. What a key is restricted to
        never changes.

        Not for API keys with scopes.
        """
        _parsed: types.NewKey = self._transport.json(
            Call(
                "POST",
                "/v1/api-keys",
                content=json_of(
                    name=name, scopes=scopes, expires_at=expires_at, allowed_cidrs=allowed_cidrs
                ),
            )
        )
        return _parsed

    def revoke(self, id: str) -> None:
        """Revoke an API key: from this response on, no process accepts it

        Revoking a revoked key changes nothing and succeeds.

        Not for API keys with scopes.
        """
        self._transport.json(Call("DELETE", path_of("/v1/api-keys/{id}", id=id)))


class Platforms:
    """The operations of `client.platforms`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Paginator[types.Platform, types.PlatformPage]:
        """List the marketplaces, their capabilities, and whether each is connected here

        Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.PlatformPage:
            del page_cursor  # there is one page only
            _parsed: types.PlatformPage = self._transport.json(Call("GET", "/v1/platforms"))
            return _parsed

        return Paginator(fetch, None)


class Products:
    """The operations of `client.products`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def search(
        self,
        *,
        platform: str,
        page: int | Omitted = OMITTED,
        size: int | Omitted = OMITTED,
        sort: types.Sort | Omitted = OMITTED,
        min_price_cny: float | Decimal | None | Omitted = OMITTED,
        max_price_cny: float | Decimal | None | Omitted = OMITTED,
        lang: str | Omitted = OMITTED,
        q: str,
    ) -> types.Search:
        """Search products on a marketplace, in any language

        The same search within a minute may be answered from a cache; `Age` tells how old it is.

        Scope: `read`.
        """
        _parsed: types.Search = self._transport.json(
            Call(
                "POST",
                "/v1/products/search",
                content=json_of(
                    platform=platform,
                    page=page,
                    size=size,
                    sort=sort,
                    min_price_cny=min_price_cny,
                    max_price_cny=max_price_cny,
                    lang=lang,
                    q=q,
                ),
            )
        )
        return _parsed

    def search_by_image(
        self,
        *,
        platform: str,
        page: int | Omitted = OMITTED,
        size: int | Omitted = OMITTED,
        sort: types.Sort | Omitted = OMITTED,
        min_price_cny: float | Decimal | None | Omitted = OMITTED,
        max_price_cny: float | Decimal | None | Omitted = OMITTED,
        lang: str | Omitted = OMITTED,
        image: str | None | Omitted = OMITTED,
        image_id: str | None | Omitted = OMITTED,
    ) -> types.ImageSearch:
        """Search products that look like a picture

        The marketplace needs the capability `image_search`. The picture is passed on to it and
        not stored here; it is recognised by its content: JPEG, PNG or WebP, at most 3 MiB, 16
        to 10,000 pixels a side and 50 megapixels. The body may have 4.25 MiB.

        For the next page, another order or other prices, send the `image_id` of the response
        instead of the picture. Only your account can use it, at the same marketplace. How long
        the marketplace keeps the picture is up to it; afterwards the code of the error at
        `/image_id` is `expired`. Taobao does not sort by sales here.

        Scope: `read`.
        """
        _parsed: types.ImageSearch = self._transport.json(
            Call(
                "POST",
                "/v1/products/image-search",
                content=json_of(
                    platform=platform,
                    page=page,
                    size=size,
                    sort=sort,
                    min_price_cny=min_price_cny,
                    max_price_cny=max_price_cny,
                    lang=lang,
                    image=image,
                    image_id=image_id,
                ),
            )
        )
        return _parsed

    def resolve(self, *, text: str, platform: str | None | Omitted = OMITTED) -> types.Resolve:
        """Find the product that a link, a shared text or a product ID names

        Links of 1688, Taobao and Tmall are known, desktop and mobile ones. Nothing is fetched:
        the product need not exist, and a short link (`m.tb.cn`, `qr.1688.com`) gets the error
        `short_link`, since it does not contain the ID. Other codes of errors at `/text` are
        `not_a_product` (a link of a marketplace to something else) and `no_product`.

        An ID without `platform` may be of several marketplaces: they are listed as
        `candidates`.

        Scope: `read`.
        """
        _parsed: types.Resolve = self._transport.json(
            Call("POST", "/v1/products/resolve", content=json_of(text=text, platform=platform))
        )
        return _parsed

    def get(self, platform: str, id: str, *, lang: str | None = None) -> types.Product:
        """Everything about a product: variants with stock, price ranges, pictures, shipping

        Scope: `read`.
        """
        _parsed: types.Product = self._transport.json(
            Call(
                "GET",
                path_of("/v1/products/{platform}/{id}", platform=platform, id=id),
                query=query_of(lang=lang),
            )
        )
        return _parsed


class Addresses:
    """The operations of `client.addresses`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Paginator[types.SavedAddress, types.SavedAddressPage]:
        """List your addresses, newest first

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.SavedAddressPage:
            _parsed: types.SavedAddressPage = self._transport.json(
                Call("GET", "/v1/addresses", query=query_of(limit=limit, cursor=page_cursor))
            )
            return _parsed

        return Paginator(fetch, cursor)

    def create(
        self,
        *,
        name: str,
        phone: str,
        province: str,
        city: str,
        district: str,
        detail: str,
        postal_code: str | None | Omitted = OMITTED,
        label: str | Omitted = OMITTED,
        is_default: bool | Omitted = OMITTED,
    ) -> types.SavedAddress:
        """Save an address

        Province, city and district are checked against the current divisions of China and saved
        by their full names: 浙江 becomes 浙江省, and the city of 北京 is 北京市. The first address of an
        account becomes its default. `is_default` makes this one the default instead of the
        present one.

        Requires the role `buyer`. Scope: `order`.
        """
        _parsed: types.SavedAddress = self._transport.json(
            Call(
                "POST",
                "/v1/addresses",
                content=json_of(
                    name=name,
                    phone=phone,
                    province=province,
                    city=city,
                    district=district,
                    detail=detail,
                    postal_code=postal_code,
                    label=label,
                    is_default=is_default,
                ),
            )
        )
        return _parsed

    def parse(self, *, text: str) -> types.PastedAddress:
        """Take a pasted address apart. Nothing is stored

        It reads labelled lines, or one line with spaces or commas, in any order, as people copy
        them from a marketplace or an order note. Province, city and district get their full
        names.

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.PastedAddress = self._transport.json(
            Call("POST", "/v1/addresses/parse", content=json_of(text=text))
        )
        return _parsed

    def get(self, id: str) -> types.SavedAddress:
        """Look at an address

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.SavedAddress = self._transport.json(
            Call("GET", path_of("/v1/addresses/{id}", id=id))
        )
        return _parsed

    def update(
        self,
        id: str,
        *,
        name: str | None | Omitted = OMITTED,
        phone: str | None | Omitted = OMITTED,
        province: str | None | Omitted = OMITTED,
        city: str | None | Omitted = OMITTED,
        district: str | None | Omitted = OMITTED,
        detail: str | None | Omitted = OMITTED,
        postal_code: str | None | Omitted = OMITTED,
        label: str | None | Omitted = OMITTED,
        is_default: bool | None | Omitted = OMITTED,
    ) -> types.SavedAddress:
        """Change an address. Orders that were placed keep the address they were placed with

        Requires the role `buyer`. Scope: `order`.
        """
        _parsed: types.SavedAddress = self._transport.json(
            Call(
                "PATCH",
                path_of("/v1/addresses/{id}", id=id),
                content=json_of(
                    name=name,
                    phone=phone,
                    province=province,
                    city=city,
                    district=district,
                    detail=detail,
                    postal_code=postal_code,
                    label=label,
                    is_default=is_default,
                ),
            )
        )
        return _parsed

    def delete(self, id: str) -> None:
        """Delete an address. If it was the default, the newest of the others becomes the default

        Requires the role `buyer`. Scope: `order`.
        """
        self._transport.json(Call("DELETE", path_of("/v1/addresses/{id}", id=id)))


class Cart:
    """The operations of `client.cart`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> types.Cart:
        """Look at your cart: at most 200 lines, one for each product and variant

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.Cart = self._transport.json(Call("GET", "/v1/cart"))
        return _parsed

    def add_item(
        self,
        *,
        product_id: str,
        quantity: int,
        sku_id: str | None | Omitted = OMITTED,
        platform: str,
        idempotency_key: str | None = None,
    ) -> types.CartItem:
        """Add a product to the cart

        The platform is asked for it now, and what it shows is kept with the line. What is in
        the cart already gets the quantity on top.

        Requires the role `buyer`. Scope: `order`.
        """
        _parsed: types.CartItem = self._transport.json(
            Call(
                "POST",
                "/v1/cart/items",
                headers=idempotent(idempotency_key),
                content=json_of(
                    product_id=product_id, quantity=quantity, sku_id=sku_id, platform=platform
                ),
            )
        )
        return _parsed

    def update_item(self, id: str, *, quantity: int) -> types.CartItem:
        """Change the quantity of a line

        Requires the role `buyer`. Scope: `order`.
        """
        _parsed: types.CartItem = self._transport.json(
            Call("PATCH", path_of("/v1/cart/items/{id}", id=id), content=json_of(quantity=quantity))
        )
        return _parsed

    def remove_item(self, id: str) -> None:
        """Remove a line from the cart

        Requires the role `buyer`. Scope: `order`.
        """
        self._transport.json(Call("DELETE", path_of("/v1/cart/items/{id}", id=id)))

    def preview(
        self,
        *,
        address: types.AddressInput | None | Omitted = OMITTED,
        address_id: str | None | Omitted = OMITTED,
        lines: Sequence[str] | None | Omitted = OMITTED,
    ) -> types.CartPreview:
        """Say what the cart, or some of its lines, would cost now; nothing is ordered

        Lines are grouped as they would be ordered: by platform and, where the platform takes
        one seller per order, by seller. Each group has its preview or its error.

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.CartPreview = self._transport.json(
            Call(
                "POST",
                "/v1/cart/preview",
                content=json_of(address=address, address_id=address_id, lines=lines),
            )
        )
        return _parsed

    def order(
        self,
        *,
        address: types.AddressInput | None | Omitted = OMITTED,
        address_id: str | None | Omitted = OMITTED,
        lines: Sequence[str] | None | Omitted = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.CartOrder:
        """Order the cart, or some of its lines: one order for each group

        Groups are those of the preview. The response has the order or the error of each; one
        that fails does not undo the others. Lines that are ordered leave the cart.

        The Idempotency-Key covers the whole request. If something is missing (`complete` is
        false), a repeat with the same key orders what is missing, and nothing twice.

        Requires the role `buyer`. Scope: `order`.
        """
        _parsed: types.CartOrder = self._transport.json(
            Call(
                "POST",
                "/v1/cart/order",
                headers=idempotent(idempotency_key),
                content=json_of(address=address, address_id=address_id, lines=lines),
            )
        )
        return _parsed


class Webhooks:
    """The operations of `client.webhooks`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Paginator[types.Subscription, types.SubscriptionPage]:
        """List your subscriptions, newest first. Secrets are not shown

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.SubscriptionPage:
            _parsed: types.SubscriptionPage = self._transport.json(
                Call("GET", "/v1/webhooks", query=query_of(limit=limit, cursor=page_cursor))
            )
            return _parsed

        return Paginator(fetch, cursor)

    def create(
        self,
        *,
        url: str,
        events: Sequence[Literal["order.updated", "payment.updated"]] | Omitted = OMITTED,
        is_active: bool | Omitted = OMITTED,
        description: str | Omitted = OMITTED,
        catch_up: bool | Omitted = OMITTED,
        headers: Mapping[str, str] | Omitted = OMITTED,
        standard_webhooks: bool | Omitted = OMITTED,
        filter: types.FilterInput | None | Omitted = OMITTED,
    ) -> types.NewSubscription:
        """Subscribe a URL to events. The answer holds the signing secret, this once

        Requires the role `buyer`. Scope: `webhooks`.
        """
        _parsed: types.NewSubscription = self._transport.json(
            Call(
                "POST",
                "/v1/webhooks",
                content=json_of(
                    url=url,
                    events=events,
                    is_active=is_active,
                    description=description,
                    catch_up=catch_up,
                    headers=headers,
                    standard_webhooks=standard_webhooks,
                    filter=filter,
                ),
            )
        )
        return _parsed

    def get(self, id: str) -> types.Subscription:
        """Look at a subscription

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.Subscription = self._transport.json(
            Call("GET", path_of("/v1/webhooks/{id}", id=id))
        )
        return _parsed

    def update(
        self,
        id: str,
        *,
        url: str | None | Omitted = OMITTED,
        events: Sequence[Literal["order.updated", "payment.updated"]] | None | Omitted = OMITTED,
        is_active: bool | None | Omitted = OMITTED,
        description: str | None | Omitted = OMITTED,
        catch_up: bool | None | Omitted = OMITTED,
        headers: Mapping[str, str] | None | Omitted = OMITTED,
        standard_webhooks: bool | None | Omitted = OMITTED,
        filter: types.FilterInput | None | Omitted = OMITTED,
    ) -> types.Subscription:
        """Change a subscription

        Every attempt that is made after the answer, a retry included, uses the new values.
        Switching it off cancels what is pending; switching it on again forgets its failures.
        `headers` replaces all headers; a value of asterisks, as you read it, keeps the stored
        one.

        Requires the role `buyer`. Scope: `webhooks`.
        """
        _parsed: types.Subscription = self._transport.json(
            Call(
                "PATCH",
                path_of("/v1/webhooks/{id}", id=id),
                content=json_of(
                    url=url,
                    events=events,
                    is_active=is_active,
                    description=description,
                    catch_up=catch_up,
                    headers=headers,
                    standard_webhooks=standard_webhooks,
                    filter=filter,
                ),
            )
        )
        return _parsed

    def delete(self, id: str) -> None:
        """Delete a subscription. What is pending for it is cancelled

        Requires the role `buyer`. Scope: `webhooks`.
        """
        self._transport.json(Call("DELETE", path_of("/v1/webhooks/{id}", id=id)))

    def rotate_secret(self, id: str) -> types.Rotated:
        """Issue a new secret. From the answer on nothing is signed with the old one

        To rotate without a gap, add a second subscription with the same URL, accept both
        secrets, and delete the first.

        Requires the role `buyer`. Not for API keys with scopes.
        """
        _parsed: types.Rotated = self._transport.json(
            Call("POST", path_of("/v1/webhooks/{id}/rotate-secret", id=id))
        )
        return _parsed

    def list_deliveries(
        self,
        id: str,
        *,
        outcome: types.Outcome | Sequence[types.Outcome] | None = None,
        result: Literal["cancelled", "delivered", "failed"]
        | Sequence[Literal["cancelled", "delivered", "failed"]]
        | None = None,
        event: Literal["order.updated", "payment.updated"]
        | Sequence[Literal["order.updated", "payment.updated"]]
        | None = None,
        order: str | None = None,
        event_id: str | None = None,
        status_code: int | Sequence[int] | None = None,
        started_after: str | datetime | None = None,
        started_before: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Paginator[types.Delivery, types.DeliveryPage]:
        """List attempts, newest first

        They are kept for 30 days unless the operator set another time.

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.DeliveryPage:
            _parsed: types.DeliveryPage = self._transport.json(
                Call(
                    "GET",
                    path_of("/v1/webhooks/{id}/deliveries", id=id),
                    query=query_of(
                        outcome=outcome,
                        result=result,
                        event=event,
                        order=order,
                        event_id=event_id,
                        status_code=status_code,
                        started_after=started_after,
                        started_before=started_before,
                        limit=limit,
                        cursor=page_cursor,
                    ),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)

    def get_delivery(self, id: str, dlv: str) -> types.DeliveryDetail:
        """Look at one attempt: what was sent, byte for byte, and what came back

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.DeliveryDetail = self._transport.json(
            Call("GET", path_of("/v1/webhooks/{id}/deliveries/{dlv}", id=id, dlv=dlv))
        )
        return _parsed

    def redeliver(self, id: str, dlv: str) -> types.Pending:
        """Deliver the same event once more: the same bytes, with three attempts of its own

        Requires the role `buyer`. Scope: `webhooks`.
        """
        _parsed: types.Pending = self._transport.json(
            Call("POST", path_of("/v1/webhooks/{id}/deliveries/{dlv}/redeliver", id=id, dlv=dlv))
        )
        return _parsed

    def list_pending(
        self, id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Paginator[types.Pending, types.PendingPage]:
        """List deliveries that are not over, by when they are due

        Deliveries that were cancelled because the subscription was switched off, or no longer
        lists the event, are left out as soon as that change was answered.

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.PendingPage:
            _parsed: types.PendingPage = self._transport.json(
                Call(
                    "GET",
                    path_of("/v1/webhooks/{id}/pending", id=id),
                    query=query_of(limit=limit, cursor=page_cursor),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)

    def recover(
        self,
        id: str,
        *,
        since: str | datetime,
        until: str | datetime | None | Omitted = OMITTED,
        order: str | None | Omitted = OMITTED,
        include: Literal["all", "undelivered"] | Omitted = OMITTED,
        dry_run: bool | Omitted = OMITTED,
    ) -> types.Recover:
        """Replay what was missed: failed, cancelled, and older than the subscription too

        It is paced so that live events do not wait behind it. `dry_run` only counts. Counting
        stops at 10,000: `count_is_exact` is false then, and a replay delivers the rest too.

        Requires the role `buyer`. Scope: `webhooks`.
        """
        _parsed: types.Recover = self._transport.json(
            Call(
                "POST",
                path_of("/v1/webhooks/{id}/recover", id=id),
                content=json_of(
                    since=since, until=until, order=order, include=include, dry_run=dry_run
                ),
            )
        )
        return _parsed

    def list_recoveries(
        self, id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Paginator[types.Job, types.JobPage]:
        """List the replays of a subscription, newest first, with how far each has come

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.JobPage:
            _parsed: types.JobPage = self._transport.json(
                Call(
                    "GET",
                    path_of("/v1/webhooks/{id}/recover", id=id),
                    query=query_of(limit=limit, cursor=page_cursor),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)

    def get_recovery(self, id: str, job: str) -> types.Job:
        """See how far a replay has come

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.Job = self._transport.json(
            Call("GET", path_of("/v1/webhooks/{id}/recover/{job}", id=id, job=job))
        )
        return _parsed

    def cancel_recovery(self, id: str, job: str) -> types.Job:
        """Cancel a replay. What it has queued and not yet sent is not sent

        Requires the role `buyer`. Scope: `webhooks`.
        """
        _parsed: types.Job = self._transport.json(
            Call("DELETE", path_of("/v1/webhooks/{id}/recover/{job}", id=id, job=job))
        )
        return _parsed

    def get_health(self, id: str) -> types.WebhookHealth:
        """See how an endpoint did in the last 24 hours

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.WebhookHealth = self._transport.json(
            Call("GET", path_of("/v1/webhooks/{id}/health", id=id))
        )
        return _parsed

    def explain_delivery(self, id: str, *, event: str) -> types.Explain:
        """Say why an event was, or was not, delivered to this subscription

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.Explain = self._transport.json(
            Call("GET", path_of("/v1/webhooks/{id}/explain", id=id), query=query_of(event=event))
        )
        return _parsed

    def test(
        self,
        id: str,
        *,
        event: Literal["order.updated", "payment.updated"] | None | Omitted = OMITTED,
    ) -> types.Test:
        """Send a test delivery at once, and say step by step how far it came

        It is sent to a subscription that is switched off as well. The answer is 200 even if the
        endpoint failed. Each subscription can be tested 10 times a minute.

        Requires the role `buyer`. Scope: `webhooks`.
        """
        _parsed: types.Test = self._transport.json(
            Call(
                "POST",
                path_of("/v1/webhooks/{id}/test", id=id),
                content=optional_json_of(event=event),
            )
        )
        return _parsed


class Orders:
    """The operations of `client.orders`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def preview(
        self,
        *,
        platform: str,
        items: Sequence[types.LineInput],
        address: types.AddressInput,
        remark: str | None | Omitted = OMITTED,
        expected_total_cny: float | Decimal | None | Omitted = OMITTED,
        external_id: str | None | Omitted = OMITTED,
        metadata: Mapping[str, str] | Omitted = OMITTED,
    ) -> types.Preview:
        """Say what an order would cost now, seller by seller, and what cannot be bought

        Nothing is ordered. Items of several sellers, on a platform that takes one seller an
        order, are 422 `several_sellers` with the split, as they would be when ordered.

        Send `total_amount_cny` as `expected_total_cny` with the order to be safe from a price
        that changes in between. Provinces, cities and districts that are not known are
        `warnings`: such an order can be placed, and the platform decides.

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.Preview = self._transport.json(
            Call(
                "POST",
                "/v1/orders/preview",
                content=json_of(
                    platform=platform,
                    items=items,
                    address=address,
                    remark=remark,
                    expected_total_cny=expected_total_cny,
                    external_id=external_id,
                    metadata=metadata,
                ),
            )
        )
        return _parsed

    def create(
        self,
        *,
        platform: str,
        items: Sequence[types.LineInput],
        address: types.AddressInput,
        remark: str | None | Omitted = OMITTED,
        expected_total_cny: float | Decimal | None | Omitted = OMITTED,
        external_id: str | None | Omitted = OMITTED,
        metadata: Mapping[str, str] | Omitted = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Order:
        """Place an order

        It is previewed first; an order that is rejected for good is not stored. The response
        comes within seconds: with the platform's `order_id` if it has one by then, else with
        `status: creating`, and an `order.updated` event follows. A later rejection becomes
        `create_failed`. However often this request is repeated with the same Idempotency-Key,
        and whatever breaks, one order is made.

        Requires the role `buyer`. Scope: `order`.
        """
        _parsed: types.Order = self._transport.json(
            Call(
                "POST",
                "/v1/orders",
                headers=idempotent(idempotency_key),
                content=json_of(
                    platform=platform,
                    items=items,
                    address=address,
                    remark=remark,
                    expected_total_cny=expected_total_cny,
                    external_id=external_id,
                    metadata=metadata,
                ),
            )
        )
        return _parsed

    def list(
        self,
        *,
        status: types.OrderStatus | Sequence[types.OrderStatus] | None = None,
        payment_status: types.PaymentStatus | Sequence[types.PaymentStatus] | None = None,
        platform: str | Sequence[str] | None = None,
        external_id: str | Sequence[str] | None = None,
        order_id: str | Sequence[str] | None = None,
        tracking_number: str | Sequence[str] | None = None,
        created_after: str | datetime | None = None,
        created_before: str | datetime | None = None,
        updated_after: str | datetime | None = None,
        updated_before: str | datetime | None = None,
        sort: Literal["created_at", "updated_at"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Paginator[types.Order, types.OrderPage]:
        """List your orders as of their last sync, newest first

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.OrderPage:
            _parsed: types.OrderPage = self._transport.json(
                Call(
                    "GET",
                    "/v1/orders",
                    query=query_of(
                        status=status,
                        payment_status=payment_status,
                        platform=platform,
                        external_id=external_id,
                        order_id=order_id,
                        tracking_number=tracking_number,
                        created_after=created_after,
                        created_before=created_before,
                        updated_after=updated_after,
                        updated_before=updated_before,
                        sort=sort,
                        limit=limit,
                        cursor=page_cursor,
                    ),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)

    def diff(self, *, orders: Sequence[types.KnownOrder]) -> types.Diff:
        """Compare up to 1,000 orders with what you have, by `updated_at`

        Returns those that differ, as they are now: a nightly reconciliation in one call.

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.Diff = self._transport.json(
            Call("POST", "/v1/orders/diff", content=json_of(orders=orders))
        )
        return _parsed

    def get(self, id: str) -> types.Order:
        """Look at an order, refreshed from its platform first

        That takes three seconds at the most, however many ask at once. What it finds is
        journaled before you get the answer. If the platform fails, you get what we last heard,
        with `stale: true`.

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.Order = self._transport.json(Call("GET", path_of("/v1/orders/{id}", id=id)))
        return _parsed

    def cancel(self, id: str, *, idempotency_key: str | None = None) -> types.Order:
        """Cancel an order that is not paid

        `status` becomes `cancelled` when the platform says so. After payment it is too late:
        request a refund instead.

        Requires the role `buyer`. Scope: `order`.
        """
        _parsed: types.Order = self._transport.json(
            Call(
                "POST",
                path_of("/v1/orders/{id}/cancel", id=id),
                headers=idempotent(idempotency_key),
            )
        )
        return _parsed

    def get_timeline(
        self, id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Paginator[types.Change, types.ChangePage]:
        """Everything that happened to an order, newest first: what changed, why, and who asked

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.ChangePage:
            _parsed: types.ChangePage = self._transport.json(
                Call(
                    "GET",
                    path_of("/v1/orders/{id}/timeline", id=id),
                    query=query_of(limit=limit, cursor=page_cursor),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)

    def request_payment(
        self,
        id: str,
        *,
        amount_cny: float | Decimal | None | Omitted = OMITTED,
        note: str | None | Omitted = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Payment:
        """Request the payment of an order. Another person has to approve it

        The request is for what the order costs now. If that changes before it is paid, the
        request is `superseded` and `payment_status` is `unpaid` again. Whoever approves it sees
        the `note`.

        Requires the role `buyer`. Scope: `pay_request`.
        """
        _parsed: types.Payment = self._transport.json(
            Call(
                "POST",
                path_of("/v1/orders/{id}/payment", id=id),
                headers=idempotent(idempotency_key),
                content=optional_json_of(amount_cny=amount_cny, note=note),
            )
        )
        return _parsed

    def withdraw_payment(self, id: str, *, idempotency_key: str | None = None) -> types.Payment:
        """Withdraw a payment request that is not approved or rejected yet

        Requires the role `buyer`. Scope: `pay_request`.
        """
        _parsed: types.Payment = self._transport.json(
            Call(
                "DELETE",
                path_of("/v1/orders/{id}/payment", id=id),
                headers=idempotent(idempotency_key),
            )
        )
        return _parsed

    def list_payments(
        self, id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Paginator[types.Payment, types.PaymentPage]:
        """List every request to pay an order, newest first

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.PaymentPage:
            _parsed: types.PaymentPage = self._transport.json(
                Call(
                    "GET",
                    path_of("/v1/orders/{id}/payments", id=id),
                    query=query_of(limit=limit, cursor=page_cursor),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)

    def request_refund(
        self,
        id: str,
        *,
        type: types.RefundKind,
        reason: str,
        amount_cny: float | Decimal | None | Omitted = OMITTED,
        freight_cny: float | Decimal | None | Omitted = OMITTED,
        note: str | None | Omitted = OMITTED,
        order_id: str | None | Omitted = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.Refund:
        """Request a refund from the seller, of all or a part

        The refund is `requested` until the seller decides. `payment_status` becomes
        `partially_refunded` or `refunded` when the money is back.

        Requires the role `buyer`. Scope: `pay_request`.
        """
        _parsed: types.Refund = self._transport.json(
            Call(
                "POST",
                path_of("/v1/orders/{id}/refunds", id=id),
                headers=idempotent(idempotency_key),
                content=json_of(
                    type=type,
                    reason=reason,
                    amount_cny=amount_cny,
                    freight_cny=freight_cny,
                    note=note,
                    order_id=order_id,
                ),
            )
        )
        return _parsed

    def list_refunds(self, id: str) -> Paginator[types.Refund, types.RefundPage]:
        """List every refund of an order, newest first

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.RefundPage:
            del page_cursor  # there is one page only
            _parsed: types.RefundPage = self._transport.json(
                Call("GET", path_of("/v1/orders/{id}/refunds", id=id))
            )
            return _parsed

        return Paginator(fetch, None)


class Imports:
    """The operations of `client.imports`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        *,
        content: bytes,
        file_name: str | None = None,
        platform: str | None = None,
        column: str | Sequence[str] | None = None,
    ) -> types.Import:
        """Send a file with many orders. Nothing is ordered yet

        The first row names the columns: `product_id`, `sku_id`, `quantity`, the fields of the
        address or `address` with the id or label of a saved one, and if you like `platform`,
        `external_id`, `remark` and `order_ref`; many other spellings are understood. Rows with
        the same `order_ref` are one order, and only one of them needs the address; any other
        row is an order of its own. A file without any address is shipped to the default
        address.

        Each row is checked at once, and then each order is previewed with its platform in the
        background: `GET /v1/imports/{id}` shows errors and totals, until `status` is `ready`.

        Requires the role `buyer`. Scope: `order`.
        """
        _parsed: types.Import = self._transport.json(
            Call(
                "POST",
                "/v1/imports",
                query=query_of(file_name=file_name, platform=platform, column=column),
                headers={"Content-Type": "application/octet-stream"},
                content=content,
            )
        )
        return _parsed

    def get(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        failed: bool | None = None,
    ) -> types.ImportDetail:
        """Look at an import: totals, progress, and a page of its rows with their errors and orders

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.ImportDetail = self._transport.json(
            Call(
                "GET",
                path_of("/v1/imports/{id}", id=id),
                query=query_of(limit=limit, cursor=cursor, failed=failed),
            )
        )
        return _parsed

    def order(self, id: str, *, expected_total_cny: float | Decimal) -> types.Import:
        """Confirm the total that you saw, and have the orders placed in the background

        Orders with an error are left out. Each order is placed at the price that was previewed:
        one that costs something else by then fails with `price_changed`. However often this is
        sent, and whatever breaks, no row is ordered twice.

        Requires the role `buyer`. Scope: `order`.
        """
        _parsed: types.Import = self._transport.json(
            Call(
                "POST",
                path_of("/v1/imports/{id}/order", id=id),
                content=json_of(expected_total_cny=expected_total_cny),
            )
        )
        return _parsed


class Payments:
    """The operations of `client.payments`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        status: types.RequestStatus | Sequence[types.RequestStatus] | None = None,
        order: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Paginator[types.PaymentWithOrder, types.PaymentWithOrderPage]:
        """List payments of all accounts, with their orders

        Without a filter it is the queue: what waits for approval, the least time left before
        the platform closes the order first. With a filter, the newest come first.

        Requires the role `approver`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.PaymentWithOrderPage:
            _parsed: types.PaymentWithOrderPage = self._transport.json(
                Call(
                    "GET",
                    "/v1/payments",
                    query=query_of(status=status, order=order, limit=limit, cursor=page_cursor),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)

    def get(self, id: str) -> types.PaymentWithOrder:
        """Get a payment request of any account, with its order

        Requires the role `approver`. Scope: `read`.
        """
        _parsed: types.PaymentWithOrder = self._transport.json(
            Call("GET", path_of("/v1/payments/{id}", id=id))
        )
        return _parsed

    def approve(
        self,
        id: str,
        *,
        amount_cny: float | Decimal | None | Omitted = OMITTED,
        idempotency_key: str | None = None,
    ) -> types.PaymentWithOrder:
        """Approve a payment that another person requested

        Send the `amount_cny` that you saw: if it is another by now, nothing is approved. What
        was approved is paid exactly once, and not at all if its amount changes first. While an
        operator has locked the account of the order, nothing of it can be approved.

        Requires the role `approver`. Not for API keys with scopes.
        """
        _parsed: types.PaymentWithOrder = self._transport.json(
            Call(
                "POST",
                path_of("/v1/payments/{id}/approve", id=id),
                headers=idempotent(idempotency_key),
                content=optional_json_of(amount_cny=amount_cny),
            )
        )
        return _parsed

    def reject(
        self, id: str, *, reason: str, idempotency_key: str | None = None
    ) -> types.PaymentWithOrder:
        """Reject a payment that another person requested, with a reason

        Requires the role `approver`. Not for API keys with scopes.
        """
        _parsed: types.PaymentWithOrder = self._transport.json(
            Call(
                "POST",
                path_of("/v1/payments/{id}/reject", id=id),
                headers=idempotent(idempotency_key),
                content=json_of(reason=reason),
            )
        )
        return _parsed


class Sandbox:
    """The operations of `client.sandbox`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def advance_order(
        self,
        id: str,
        *,
        to: Literal[
            "cancelled",
            "closed",
            "completed",
            "expired",
            "paid",
            "partially_shipped",
            "price_changed",
            "received",
            "refund_agreed",
            "refund_completed",
            "refund_refused",
            "shipped",
        ],
        total_cny: float | Decimal | None | Omitted = OMITTED,
    ) -> types.Order:
        """Move an order on a simulated platform, and return it after a sync

        Everything that follows is real: the sync, the events, the webhooks.

        Requires the role `buyer`. Scope: `order`.
        """
        _parsed: types.Order = self._transport.json(
            Call(
                "POST",
                path_of("/v1/sandbox/orders/{id}/advance", id=id),
                content=json_of(to=to, total_cny=total_cny),
            )
        )
        return _parsed


class Events:
    """The operations of `client.events`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        order: str | None = None,
        event: Literal["order.updated", "payment.updated"]
        | Sequence[Literal["order.updated", "payment.updated"]]
        | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> Paginator[types.EventBody, types.EventPage]:
        """Read your journal, oldest first

        Each item is the exact body that webhooks get. The events of your account are numbered
        without gaps, in the order in which they were committed, and the cursor is the number of
        the last one you got. So it never skips an event, not even one that was being written
        while you read, and you can prove that you have them all: without filters,
        `first_number` of a page is one more than `last_number` of the page before. Events are
        kept for 30 days unless the operator set another time.

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.EventPage:
            _parsed: types.EventPage = self._transport.json(
                Call(
                    "GET",
                    "/v1/events",
                    query=query_of(order=order, event=event, after=page_cursor, limit=limit),
                )
            )
            return _parsed

        return Paginator(fetch, after)

    def stream(
        self,
        *,
        order: str | None = None,
        event: Literal["order.updated", "payment.updated"]
        | Sequence[Literal["order.updated", "payment.updated"]]
        | None = None,
        after: str | None = None,
        last_event_id: str | None = None,
    ) -> Iterator[ServerSentEvent]:
        """Receive your events as they happen, as server-sent events

        No public address is needed. The response does not end by itself: each event is sent
        when it was committed, in the order of the journal. When the connection is lost, connect
        again with `Last-Event-ID`: no event is skipped or repeated. The first block has an `id`
        and no event, so that you can resume before you got one. A comment is sent every 15
        seconds. Your account may have 8 streams open. A stream ends within a second when its
        key is revoked, its session ends or the account is locked, and when the server stops:
        connect again.

        Requires the role `buyer`. Scope: `read`.
        """
        return self._transport.events(
            Call(
                "GET",
                "/v1/events/stream",
                query=query_of(order=order, event=event, after=after),
                headers={"Accept": "text/event-stream"} | headers_of(last_event_id=last_event_id),
            )
        )

    def get(self, id: str) -> types.EventBody:
        """Look at one event, in the exact bytes that webhooks get

        Requires the role `buyer`. Scope: `read`.
        """
        _parsed: types.EventBody = self._transport.json(
            Call("GET", path_of("/v1/events/{id}", id=id))
        )
        return _parsed


class EventTypes:
    """The operations of `client.event_types`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Paginator[types.EventType, types.EventTypePage]:
        """List the event types: what each means, its causes, and the body that is sent for each
        cause

        An example has the fields, their order and the spelling of a real delivery.

        Requires the role `buyer`. Scope: `read`.
        """

        def fetch(page_cursor: str | None) -> types.EventTypePage:
            del page_cursor  # there is one page only
            _parsed: types.EventTypePage = self._transport.json(Call("GET", "/v1/event-types"))
            return _parsed

        return Paginator(fetch, None)


class Exports:
    """The operations of `client.exports`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def orders(
        self,
        *,
        status: types.OrderStatus | Sequence[types.OrderStatus] | None = None,
        payment_status: types.PaymentStatus | Sequence[types.PaymentStatus] | None = None,
        platform: str | Sequence[str] | None = None,
        external_id: str | Sequence[str] | None = None,
        order_id: str | Sequence[str] | None = None,
        tracking_number: str | Sequence[str] | None = None,
        created_after: str | datetime | None = None,
        created_before: str | datetime | None = None,
        updated_after: str | datetime | None = None,
        updated_before: str | datetime | None = None,
        bom: bool | None = None,
    ) -> Iterator[bytes]:
        """Export your orders as CSV, newest first: a row for each line of each order

        The amounts of an order are in the row of its first line only, so that the sum of a
        column is right. The first row names the columns; read columns by name, since new ones
        may be added. Text that a spreadsheet would run as a formula begins with an apostrophe.
        If the connection closes before the end of the response, the file is incomplete.

        Requires the role `buyer`. Scope: `read`.
        """
        return self._transport.bytes(
            Call(
                "GET",
                "/v1/exports/orders",
                query=query_of(
                    status=status,
                    payment_status=payment_status,
                    platform=platform,
                    external_id=external_id,
                    order_id=order_id,
                    tracking_number=tracking_number,
                    created_after=created_after,
                    created_before=created_before,
                    updated_after=updated_after,
                    updated_before=updated_before,
                    bom=bom,
                ),
            )
        )

    def payments(
        self,
        *,
        status: types.RequestStatus | Sequence[types.RequestStatus] | None = None,
        order: str | None = None,
        bom: bool | None = None,
    ) -> Iterator[bytes]:
        """Export payments of all accounts as CSV, newest first; without a filter, all of them

        Requires the role `approver`. Scope: `read`.
        """
        return self._transport.bytes(
            Call("GET", "/v1/exports/payments", query=query_of(status=status, order=order, bom=bom))
        )

    def deliveries(
        self,
        *,
        outcome: types.Outcome | Sequence[types.Outcome] | None = None,
        result: Literal["cancelled", "delivered", "failed"]
        | Sequence[Literal["cancelled", "delivered", "failed"]]
        | None = None,
        event: Literal["order.updated", "payment.updated"]
        | Sequence[Literal["order.updated", "payment.updated"]]
        | None = None,
        order: str | None = None,
        event_id: str | None = None,
        status_code: int | Sequence[int] | None = None,
        started_after: str | datetime | None = None,
        started_before: str | datetime | None = None,
        webhook: str | None = None,
        bom: bool | None = None,
    ) -> Iterator[bytes]:
        """Export attempts to deliver events as CSV, newest first

        Without `webhook`, the attempts of each webhook follow each other.

        Requires the role `buyer`. Scope: `read`.
        """
        return self._transport.bytes(
            Call(
                "GET",
                "/v1/exports/deliveries",
                query=query_of(
                    outcome=outcome,
                    result=result,
                    event=event,
                    order=order,
                    event_id=event_id,
                    status_code=status_code,
                    started_after=started_after,
                    started_before=started_before,
                    webhook=webhook,
                    bom=bom,
                ),
            )
        )

    def events(
        self,
        *,
        order: str | None = None,
        event: Literal["order.updated", "payment.updated"]
        | Sequence[Literal["order.updated", "payment.updated"]]
        | None = None,
        bom: bool | None = None,
    ) -> Iterator[bytes]:
        """Export your journal as CSV, oldest first

        Requires the role `buyer`. Scope: `read`.
        """
        return self._transport.bytes(
            Call("GET", "/v1/exports/events", query=query_of(order=order, event=event, bom=bom))
        )

    def audit(
        self,
        *,
        account: str | None = None,
        action: str | Sequence[str] | None = None,
        at_after: str | datetime | None = None,
        at_before: str | datetime | None = None,
        bom: bool | None = None,
    ) -> Iterator[bytes]:
        """Export the audit log as CSV, newest first

        Requires the role `operator`. Not for API keys with scopes.
        """
        return self._transport.bytes(
            Call(
                "GET",
                "/v1/exports/audit",
                query=query_of(
                    account=account, action=action, at_after=at_after, at_before=at_before, bom=bom
                ),
            )
        )


class Notices:
    """The operations of `client.notices`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def receive(self, platform: str) -> types.Notice:
        """Take a push from a marketplace, in its own format and with its own signature

        It is only ever a hint: the orders that it names are read through the marketplace's API,
        unless it tells nothing new, as a notice about our own call.
        """
        _parsed: types.Notice = self._transport.json(
            Call("POST", path_of("/v1/notices/{platform}", platform=platform))
        )
        return _parsed


class Admin:
    """The operations of `client.admin`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list_accounts(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        email: str | None = None,
        role: types.Role | Sequence[types.Role] | None = None,
        plan: types.Plan | Sequence[types.Plan] | None = None,
        locked: bool | None = None,
    ) -> Paginator[types.AdminAccount, types.AdminAccountPage]:
        """List accounts, newest first

        Requires the role `operator`. Not for API keys with scopes.
        """

        def fetch(page_cursor: str | None) -> types.AdminAccountPage:
            _parsed: types.AdminAccountPage = self._transport.json(
                Call(
                    "GET",
                    "/v1/admin/accounts",
                    query=query_of(
                        limit=limit,
                        cursor=page_cursor,
                        email=email,
                        role=role,
                        plan=plan,
                        locked=locked,
                    ),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)

    def create_account(
        self,
        *,
        email: str,
        name: str | Omitted = OMITTED,
        roles: Sequence[types.Role] | Omitted = OMITTED,
        plan: types.Plan | Omitted = OMITTED,
        password: str | None | Omitted = OMITTED,
    ) -> types.AdminAccount:
        """Create an account

        Without `password`, create a password link next and send it to the owner.

        Requires the role `operator`. Not for API keys with scopes.
        """
        _parsed: types.AdminAccount = self._transport.json(
            Call(
                "POST",
                "/v1/admin/accounts",
                content=json_of(email=email, name=name, roles=roles, plan=plan, password=password),
            )
        )
        return _parsed

    def get_account(self, id: str) -> types.AdminAccount:
        """One account

        Requires the role `operator`. Not for API keys with scopes.
        """
        _parsed: types.AdminAccount = self._transport.json(
            Call("GET", path_of("/v1/admin/accounts/{id}", id=id))
        )
        return _parsed

    def lock_account(self, id: str, *, reason: str) -> types.AdminAccount:
        """Lock an account

        From this response on every credential of it gets 403 `account_locked`, and its sessions
        have ended. No payment of it can be approved (409 `account_locked`), and an approved
        payment that was not sent to the marketplace yet waits for the unlock. Its orders are
        still synced and its deliveries still sent.

        Requires the role `operator`. Not for API keys with scopes.
        """
        _parsed: types.AdminAccount = self._transport.json(
            Call(
                "POST",
                path_of("/v1/admin/accounts/{id}/lock", id=id),
                content=json_of(reason=reason),
            )
        )
        return _parsed

    def unlock_account(self, id: str) -> types.AdminAccount:
        """Unlock an account: its API keys work again at once, its people log in again

        Approved payments are made now. A stop after failed logins ends as well.

        Requires the role `operator`. Not for API keys with scopes.
        """
        _parsed: types.AdminAccount = self._transport.json(
            Call("POST", path_of("/v1/admin/accounts/{id}/unlock", id=id))
        )
        return _parsed

    def change_plan(self, id: str, *, plan: types.Plan) -> types.AdminAccount:
        """Put an account on another plan; its next request has the new limits

        Requires the role `operator`. Not for API keys with scopes.
        """
        _parsed: types.AdminAccount = self._transport.json(
            Call("POST", path_of("/v1/admin/accounts/{id}/plan", id=id), content=json_of(plan=plan))
        )
        return _parsed

    def change_roles(self, id: str, *, roles: Sequence[types.Role]) -> types.AdminAccount:
        """Give an account exactly these roles, from its next request on

        Requires the role `operator`. Not for API keys with scopes.
        """
        _parsed: types.AdminAccount = self._transport.json(
            Call(
                "POST",
                path_of("/v1/admin/accounts/{id}/roles", id=id),
                content=json_of(roles=roles),
            )
        )
        return _parsed

    def make_password_link(self, id: str) -> types.PasswordLink:
        """Create a one-time link with which the account's owner chooses a password

        It works once, for 24 hours, and replaces any earlier link of the account.

        Requires the role `operator`. Not for API keys with scopes.
        """
        _parsed: types.PasswordLink = self._transport.json(
            Call("POST", path_of("/v1/admin/accounts/{id}/password-link", id=id))
        )
        return _parsed

    def list_all_orders(
        self,
        *,
        status: types.OrderStatus | Sequence[types.OrderStatus] | None = None,
        payment_status: types.PaymentStatus | Sequence[types.PaymentStatus] | None = None,
        platform: str | Sequence[str] | None = None,
        external_id: str | Sequence[str] | None = None,
        order_id: str | Sequence[str] | None = None,
        tracking_number: str | Sequence[str] | None = None,
        created_after: str | datetime | None = None,
        created_before: str | datetime | None = None,
        updated_after: str | datetime | None = None,
        updated_before: str | datetime | None = None,
        sort: Literal["created_at", "updated_at"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        account: str | None = None,
    ) -> Paginator[types.Order, types.OrderPage]:
        """List the orders of every account, or of one, newest first

        Requires the role `operator`. Not for API keys with scopes.
        """

        def fetch(page_cursor: str | None) -> types.OrderPage:
            _parsed: types.OrderPage = self._transport.json(
                Call(
                    "GET",
                    "/v1/admin/orders",
                    query=query_of(
                        status=status,
                        payment_status=payment_status,
                        platform=platform,
                        external_id=external_id,
                        order_id=order_id,
                        tracking_number=tracking_number,
                        created_after=created_after,
                        created_before=created_before,
                        updated_after=updated_after,
                        updated_before=updated_before,
                        sort=sort,
                        limit=limit,
                        cursor=page_cursor,
                        account=account,
                    ),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)

    def list_all_webhooks(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        health: types.Health | Sequence[types.Health] | None = None,
    ) -> Paginator[types.AdminSubscription, types.AdminSubscriptionPage]:
        """List the subscriptions of every account, newest first

        Requires the role `operator`. Not for API keys with scopes.
        """

        def fetch(page_cursor: str | None) -> types.AdminSubscriptionPage:
            _parsed: types.AdminSubscriptionPage = self._transport.json(
                Call(
                    "GET",
                    "/v1/admin/webhooks",
                    query=query_of(limit=limit, cursor=page_cursor, health=health),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)

    def list_queue(self) -> Paginator[types.Queue, types.QueuePage]:
        """List what waits to be delivered, by subscription, those first that have waited longest

        Requires the role `operator`. Not for API keys with scopes.
        """

        def fetch(page_cursor: str | None) -> types.QueuePage:
            del page_cursor  # there is one page only
            _parsed: types.QueuePage = self._transport.json(Call("GET", "/v1/admin/queue"))
            return _parsed

        return Paginator(fetch, None)

    def get_platform_connection(self, platform: str) -> types.Connection:
        """Our connection to a marketplace. Secrets and tokens are never shown

        Requires the role `operator`. Not for API keys with scopes.
        """
        _parsed: types.Connection = self._transport.json(
            Call("GET", path_of("/v1/admin/platforms/{platform}", platform=platform))
        )
        return _parsed

    def connect_platform(
        self,
        platform: str,
        *,
        app_key: str | None | Omitted = OMITTED,
        app_secret: str | None | Omitted = OMITTED,
        code: str | None | Omitted = OMITTED,
        state: str | None | Omitted = OMITTED,
        redirect_uri: str | None | Omitted = OMITTED,
        access_token: str | None | Omitted = OMITTED,
        refresh_token: str | None | Omitted = OMITTED,
    ) -> types.Connection:
        """Set a marketplace's application, and authorise it by a code or by tokens

        Fields that are left out keep their value. Secrets are encrypted at rest and never
        shown.

        Requires the role `operator`. Not for API keys with scopes.
        """
        _parsed: types.Connection = self._transport.json(
            Call(
                "POST",
                path_of("/v1/admin/platforms/{platform}", platform=platform),
                content=json_of(
                    app_key=app_key,
                    app_secret=app_secret,
                    code=code,
                    state=state,
                    redirect_uri=redirect_uri,
                    access_token=access_token,
                    refresh_token=refresh_token,
                ),
            )
        )
        return _parsed

    def disconnect_platform(self, platform: str) -> None:
        """Delete a marketplace's credentials

        Requires the role `operator`. Not for API keys with scopes.
        """
        self._transport.json(
            Call("DELETE", path_of("/v1/admin/platforms/{platform}", platform=platform))
        )

    def list_audit(
        self,
        *,
        account: str | None = None,
        action: str | Sequence[str] | None = None,
        at_after: str | datetime | None = None,
        at_before: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Paginator[types.Audit, types.AuditPage]:
        """List changes of permissions and decisions about payments, newest first

        Requires the role `operator`. Not for API keys with scopes.
        """

        def fetch(page_cursor: str | None) -> types.AuditPage:
            _parsed: types.AuditPage = self._transport.json(
                Call(
                    "GET",
                    "/v1/admin/audit",
                    query=query_of(
                        account=account,
                        action=action,
                        at_after=at_after,
                        at_before=at_before,
                        limit=limit,
                        cursor=page_cursor,
                    ),
                )
            )
            return _parsed

        return Paginator(fetch, cursor)


class Server:
    """The operations of `client.server`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def healthz(self) -> types.Readiness:
        """Whether the process is alive"""
        _parsed: types.Readiness = self._transport.json(Call("GET", "/healthz"))
        return _parsed

    def readyz(self) -> types.Readiness:
        """Whether the database acknowledges a change, with every migration and tomorrow's
        partitions

        Otherwise 503 says what is missing. The change is tried at most once a second.
        """
        _parsed: types.Readiness = self._transport.json(Call("GET", "/readyz"))
        return _parsed


class Resources:
    """Every resource of the API."""

    def __init__(self, transport: Transport) -> None:
        self.auth = Auth(transport)
        self.me = Me(transport)
        self.api_keys = ApiKeys(transport)
        self.platforms = Platforms(transport)
        self.products = Products(transport)
        self.addresses = Addresses(transport)
        self.cart = Cart(transport)
        self.webhooks = Webhooks(transport)
        self.orders = Orders(transport)
        self.imports = Imports(transport)
        self.payments = Payments(transport)
        self.sandbox = Sandbox(transport)
        self.events = Events(transport)
        self.event_types = EventTypes(transport)
        self.exports = Exports(transport)
        self.notices = Notices(transport)
        self.admin = Admin(transport)
        self.server = Server(transport)
